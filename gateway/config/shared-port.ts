import type { Config } from './config.ts';
import type { Reading } from './reading.ts';

/** Names what keeps several processes from sharing one port. */
export function refuseUnshareable(reading: Reading, { port, eventLog, service }: Config): void {
  if (port === 0) reading.fault('REUSE_PORT=1 needs PORT: all processes listen on the same one.');
  if (eventLog.kind !== 'redis' && !reading.hasFault('EVENT_LOG')) {
    reading.fault(
      'REUSE_PORT=1 needs EVENT_LOG=redis://<host>:<port>: several processes write one log, and only Redis takes several writers.',
    );
  }
  if (service.kind === 'embedded') {
    reading.fault(
      'REUSE_PORT=1 needs SERVICE_URL: each process would embed a sandbox of its own. npm run sandbox starts one beside them.',
    );
  }
}
