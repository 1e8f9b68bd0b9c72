import { once } from 'node:events';
import process from 'node:process';
import type { Writable } from 'node:stream';
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

/** Where a program finds what it works with. */
export interface Settings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration of a gateway with these variables. @throws GatewayError CONFIG_INVALID */
  readonly readConfig: () => Config;
}

/** The arguments of a command's run. */
export interface Session<Store> {
  readonly store: Store;
  readonly settings: Settings;
  readonly options: Readonly<Record<string, unknown>>;
  /** The arguments after the command's name that are not options. */
  readonly words: readonly string[];
  /** Prints one line of JSON on standard output; waits for a slow reader. */
  readonly print: (line: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Prints a sentence for a person, on standard error. */
  readonly report: (sentence: string) => void;
  /** Aborts when the command is to end: the process gets SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

/** Several commands over one store: a log, a trail, or a gateway. */
export interface Program<Store> {
  /** How it is called, up to the command. */
  readonly call: string;
  readonly commands: Readonly<Record<string, Command<Store>>>;
  /** The end of its help. */
  readonly about: readonly string[];
  readonly open: (settings: Settings) => Promise<Store>;
  readonly close: (store: Store) => Promise<void>;
}

/** No command needs a secret of the gateway's callers, so none is generated for it. */
const unused: GeneratedSecrets = {
  serviceApiKey: '',
  webhookSecret: '',
  gatewayApiKey: '',
  viewerTokenSecret: '',
};

/** What a program is called with, and where it answers. */
interface Surroundings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Called once the store is open; from then on a command is asked to end by the signal, and not before. */
  readonly stopOnSignal: () => AbortSignal;
}

/** Runs the command that the process was called with (or these arguments), and sets its exit code. */
export async function runInProcess<Store>(
  program: Program<Store>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const { env, stdout, stderr } = process;
  const stopOnSignal = () => {
    const stopping = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());
    // The reader of the output has closed it (`| head`).
    stdout.on('error', () => process.exit(0));
    return stopping.signal;
  };
  process.exitCode = await runProgram(program, { args, env, stdout, stderr, stopOnSignal });
}

/** @returns the exit code: 0 when all is well, else 1 */
export async function runProgram<Store>(program: Program<Store>, surroundings: Surroundings): Promise<0 | 1> {
  try {
    return (await run(program, surroundings)) ? 0 : 1;
  } catch (error) {
    // Our own messages contain no personal data; other messages might.
    surroundings.stderr.write(
      `${isGatewayError(error) ? `${error.code}: ${error.message}` : 'The command failed.'}\n`,
    );
    return 1;
  }
}

async function run<Store>(program: Program<Store>, surroundings: Surroundings): Promise<boolean> {
  const { args, env, stdout, stderr } = surroundings;
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  if (args.includes('--help') || command === undefined) {
    (args.includes('--help') ? stdout : stderr).write(describe(program));
    return args.includes('--help');
  }
  const { values, positionals } = readArguments(command, rest);
  const settings = { env, readConfig: () => readConfig(env, () => unused) };
  const store = await program.open(settings);
  try {
    return await command.run(
      createSession({ store, settings, options: values, words: positionals }, surroundings),
    );
  } finally {
    await program.close(store);
  }
}

function describe<Store>({ call, commands, about }: Program<Store>): string {
  const lines = Object.entries(commands).flatMap(([name, { usage, summary }]) => [
    `  ${name} ${usage}`,
    `      ${summary}`,
  ]);
  return [`${call} <command>`, '', ...lines, '', ...about, ''].join('\n');
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
  parts: Pick<Session<Store>, 'store' | 'settings' | 'options' | 'words'>,
  { stdout, stderr, stopOnSignal }: Surroundings,
): Session<Store> {
  return {
    ...parts,
    print: async (line) => {
      if (!stdout.write(`${JSON.stringify(line)}\n`)) await once(stdout, 'drain');
    },
    report: (sentence) => void stderr.write(`${sentence}\n`),
    signal: stopOnSignal(),
  };
}

/** @returns the position that a person typed; null unless it is a whole number */
export function readPosition(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
