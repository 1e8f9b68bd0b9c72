import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { type EventStore, openEventStore } from '../events/open.ts';
import { createLog } from '../log.ts';
import { dead, replay } from './dead-letters.ts';
import { runProgram } from './program.ts';
import { tail } from './tail.ts';
import { verify } from './verify.ts';

/** `npm run events -- <command>`: works on the event log, beside a running gateway or without one. */
await runProgram<EventStore>({
  call: 'npm run events',
  commands: { dead, replay, tail, verify },
  about: [
    'Works on the log that EVENT_LOG names, with the variables of the gateway, also while it runs. Prints one JSON',
    'line per finding; exit code 0 when all is well, else 1.',
  ],
  open,
  close: (store) => store.log.close(),
});

async function open(config: Config): Promise<EventStore> {
  if (config.eventLog.kind === 'memory') {
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'EVENT_LOG=memory: is inside the gateway, out of reach.');
  }
  return await openEventStore(config.eventLog, {
    keys: config.eventLogKeys,
    log: createLog({ level: 'warn' }),
    access: 'shared',
  });
}
