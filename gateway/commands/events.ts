import { once } from 'node:events';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { KeptSecrets } from '../config/reading.ts';
import { type Config, readConfig } from '../config.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import { type EventStore, openEventStore } from '../events/open.ts';
import { createLog } from '../log.ts';
import type { Command, Session } from './command.ts';
import { dead } from './dead.ts';
import { replay } from './replay.ts';
import { tail } from './tail.ts';
import { verify } from './verify.ts';

/** `npm run events -- <command>`: looks after the event log, beside a running gateway or without one. */
const commands: Readonly<Record<string, Command>> = { dead, replay, tail, verify };

const help = [
  'npm run events -- <command>',
  '',
  ...Object.entries(commands).flatMap(([name, { usage, summary }]) => [
    `  ${name} ${usage}`,
    `      ${summary}`,
  ]),
  '',
  'Works on the log that EVENT_LOG names, with the variables of the gateway, also while it runs. Prints one JSON',
  'line per finding; exit code 0 when all is well, else 1.',
  '',
].join('\n');

/** No command needs a secret of the gateway's callers, so none is generated for it. */
const unused: KeptSecrets = {
  serviceApiKey: '',
  webhookSecret: '',
  gatewayApiKey: '',
  viewerTokenSecret: '',
};

async function run(args: readonly string[]): Promise<boolean> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (args.includes('--help') || command === undefined) {
    (args.includes('--help') ? process.stdout : process.stderr).write(help);
    return args.includes('--help');
  }
  const { values, positionals } = readArguments(command, rest);
  const config = readConfig(process.env, () => unused);
  const store = await open(config);
  try {
    return await command.run(createSession({ store, config, options: values, words: positionals }));
  } finally {
    await store.log.close();
  }
}

function readArguments(command: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: command.options,
      allowPositionals: command.usage.startsWith('<'),
    });
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', 'That is not how it is called. See --help.', { cause });
  }
}

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

function createSession(parts: Pick<Session, 'store' | 'config' | 'options' | 'words'>): Session {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort());
  // Whoever read the lines has left (`| head`): nothing is left to do.
  process.stdout.on('error', () => process.exit(0));
  return {
    ...parts,
    print: async (line) => {
      if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
    },
    say: (sentence) => void process.stderr.write(`${sentence}\n`),
    signal: ending.signal,
  };
}

try {
  process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  // A message of ours is a sentence without data; any other could quote what broke it.
  process.stderr.write(
    `${isGatewayError(error) ? `${error.code}: ${error.message}` : 'The command failed.'}\n`,
  );
  process.exitCode = 1;
}
