import { once } from 'node:events';
import process from 'node:process';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Config, readConfig } from '../config/config.ts';
import type { GeneratedSecrets } from '../config/reading.ts';
import { GatewayError, isGatewayError } from '../errors.ts';

/** A command of a program, such as `npm run events -- <name>`. */
export interface Command<Store> {
  /** Its arguments, for the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** @returns whether all is well: exit code 0, else 1 */
  readonly run: (session: Session<Store>) => Promise<boolean>;
}

/** The arguments of a command's run. */
export interface Session<Store> {
  readonly store: Store;
  readonly config: Config;
  readonly options: Readonly<Record<string, unknown>>;
  /** The arguments after the command's name that are not options. */
  readonly words: readonly string[];
  /** Prints one line of JSON on standard output; waits for a slow reader. */
  readonly print: (line: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Prints a sentence for a person, on standard error. */
  readonly report: (sentence: string) => void;
  /** Aborts when the process gets SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

/** Several commands over one store. */
export interface Program<Store> {
  /** How it is called, without the command. */
  readonly call: string;
  readonly commands: Readonly<Record<string, Command<Store>>>;
  /** The end of its help. */
  readonly about: readonly string[];
  readonly open: (config: Config) => Promise<Store>;
  readonly close: (store: Store) => Promise<void>;
}

/** No command needs a secret of the gateway's callers, so none is generated for it. */
const unused: GeneratedSecrets = {
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
    // Our own messages contain no personal data; other messages might.
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
  const lines = Object.entries(commands).flatMap(([name, { usage, summary }]) => [
    `  ${name} ${usage}`,
    `      ${summary}`,
  ]);
  return [`${call} -- <command>`, '', ...lines, '', ...about, ''].join('\n');
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
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());
  // The reader of the output has closed it (`| head`).
  process.stdout.on('error', () => process.exit(0));
  return {
    ...parts,
    print: async (line) => {
      if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
    },
    report: (sentence) => void process.stderr.write(`${sentence}\n`),
    signal: stopping.signal,
  };
}

/** @returns the position that a person typed; null unless it is a whole number */
export function readPosition(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
