import { once } from 'node:events';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config/config.ts';
import type { KeptSecrets } from '../config/reading.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import type { Command, Session } from './command.ts';

/** A program of several commands over one store. */
export interface Program<Store> {
  /** How it is called, without the command. */
  readonly call: string;
  readonly commands: Readonly<Record<string, Command<Store>>>;
  /** What it works on, for its help. */
  readonly about: readonly string[];
  readonly open: (config: Config) => Promise<Store>;
  readonly close: (store: Store) => Promise<void>;
}

/** No command needs a secret of the gateway's callers, so none is generated for it. */
const unused: KeptSecrets = {
  serviceApiKey: '',
  webhookSecret: '',
  gatewayApiKey: '',
  viewerTokenSecret: '',
};

/** Runs the command that the process was called with, and sets its exit code: 0 when all is well, else 1. */
export async function runProgram<Store>(program: Program<Store>): Promise<void> {
  try {
    process.exitCode = (await run(program, process.argv.slice(2))) ? 0 : 1;
  } catch (error) {
    // A message of ours is a sentence without data; any other could quote what broke it.
    process.stderr.write(
      `${isGatewayError(error) ? `${error.code}: ${error.message}` : 'The command failed.'}\n`,
    );
    process.exitCode = 1;
  }
}

async function run<Store>(program: Program<Store>, args: readonly string[]): Promise<boolean> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  if (args.includes('--help') || command === undefined) {
    (args.includes('--help') ? process.stdout : process.stderr).write(describe(program));
    return args.includes('--help');
  }
  const { values, positionals } = readArguments(command, rest);
  const config = readConfig(process.env, () => unused);
  const store = await program.open(config);
  try {
    return await command.run(createSession({ store, config, options: values, words: positionals }));
  } finally {
    await program.close(store);
  }
}

function describe<Store>({ call, commands, about }: Program<Store>): string {
  return [
    `${call} -- <command>`,
    '',
    ...Object.entries(commands).flatMap(([name, { usage, summary }]) => [
      `  ${name} ${usage}`,
      `      ${summary}`,
    ]),
    '',
    ...about,
    '',
  ].join('\n');
}

function readArguments<Store>(command: Command<Store>, args: readonly string[]) {
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

function createSession<Store>(
  parts: Pick<Session<Store>, 'store' | 'config' | 'options' | 'words'>,
): Session<Store> {
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
