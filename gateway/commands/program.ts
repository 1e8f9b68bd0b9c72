import { once } from 'node:events';
import process from 'node:process';
import type { Writable } from 'node:stream';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Config, readConfig } from '../config/config.ts';
import type { Environment, GeneratedSecrets } from '../config/reading.ts';
import { GatewayError, isGatewayError } from '../errors.ts';

/** A command of a program, such as `npm run events -- <name>`. */
export interface Command<Store> {
  /** Its arguments, for the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** Calls of it, for its own help. */
  readonly examples?: readonly string[];
  /** The text of a line for a person; without it, and with --json, lines are JSON. */
  readonly format?: (line: Line) => string;
  /**
   * @returns whether all is well: exit code 0, else 1
   * @throws GatewayError BAD_USER_INPUT when it is called wrongly: exit code 2
   */
  readonly run: (session: Session<Store>) => Promise<boolean>;
}

/** A finding. */
export type Line = Readonly<Record<string, unknown>>;

/** Where a program finds what it works with. */
export interface Settings {
  readonly env: Environment;
  /** The configuration of a gateway with these variables, and more of them. @throws GatewayError CONFIG_INVALID */
  readonly readConfig: (more?: Environment) => Config;
}

/** The arguments of a command's run. */
export interface Session<Store> {
  readonly store: Store;
  readonly settings: Settings;
  readonly options: Readonly<Record<string, unknown>>;
  /** The arguments after the command's name that are not options. */
  readonly words: readonly string[];
  /** Prints one line on standard output, or a list: for a person a line for each, else one line. Waits for a slow reader. */
  readonly print: (line: Line | readonly Line[]) => Promise<void>;
  /** Prints a sentence for a person on standard error; with --json as `{"message":…}`. */
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
  readonly env: Environment;
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

/** `fault`: something is not well, or could not be done. */
const exitCodes = { done: 0, fault: 1, wrongUsage: 2 } as const;
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export async function runProgram<Store>(
  program: Program<Store>,
  surroundings: Surroundings,
): Promise<ExitCode> {
  try {
    return await run(program, surroundings);
  } catch (error) {
    // Our own messages contain no personal data; other messages might.
    const { code, message } = isGatewayError(error)
      ? error
      : { code: 'INTERNAL', message: 'The command failed.' };
    const isJson = surroundings.args.includes('--json');
    surroundings.stderr.write(`${isJson ? JSON.stringify({ code, message }) : `${code}: ${message}`}\n`);
    return isGatewayError(error, 'BAD_USER_INPUT') ? exitCodes.wrongUsage : exitCodes.fault;
  }
}

async function run<Store>(program: Program<Store>, surroundings: Surroundings): Promise<ExitCode> {
  const { args, env, stdout, stderr } = surroundings;
  const isHelp = args[0] === 'help' || args.includes('--help');
  const [name = '', ...rest] = args[0] === 'help' ? args.slice(1) : args;
  const command = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  const isKnown = command !== undefined || name === '' || name === '--help';
  if (isHelp && isKnown) {
    stdout.write(command === undefined ? describe(program) : describeCommand(program, name, command));
    return exitCodes.done;
  }
  if (command === undefined) {
    stderr.write(describe(program));
    return exitCodes.wrongUsage;
  }
  const { values, positionals } = readArguments(command, rest);
  const settings = {
    env,
    readConfig: (more: Environment = {}) => readConfig({ ...env, ...more }, () => unused),
  };
  const store = await program.open(settings);
  try {
    const parts = { command, store, settings, options: values, words: positionals };
    return (await command.run(createSession(parts, surroundings))) ? exitCodes.done : exitCodes.fault;
  } finally {
    await program.close(store);
  }
}

function describe<Store>({ call, commands, about }: Program<Store>): string {
  const lines = Object.entries(commands).flatMap(([name, { usage, summary }]) => [
    `  ${name} ${usage}`.trimEnd(),
    `      ${summary}`,
  ]);
  return [
    `${call} <command>`,
    '',
    ...lines,
    '',
    ...about,
    '',
    `${call} help <command>: examples. --json: also sentences come as JSON, one object a line.`,
    'Exit code 0: done, 1: a fault, 2: called wrongly.',
    '',
  ].join('\n');
}

function describeCommand<Store>({ call }: Program<Store>, name: string, command: Command<Store>): string {
  const { usage, summary, examples = [] } = command;
  return [
    `${call} ${name} ${usage}`.trimEnd(),
    '',
    `  ${summary}`,
    ...(examples.length === 0 ? [] : ['', 'Examples:']),
    ...examples.map((example) => `  ${call} ${name} ${example}`.trimEnd()),
    '',
  ].join('\n');
}

/** Cursors are base64url, so some begin with a hyphen. No option has such a length. */
const hyphenedCursor = /^-[\w-]{40,}$/;

function readArguments<Store>(command: Command<Store>, args: readonly string[]) {
  const cursors = args.filter((arg) => hyphenedCursor.test(arg));
  const others = args.filter((arg) => !hyphenedCursor.test(arg));
  try {
    return parseArgs({
      args: cursors.length === 0 || args.includes('--') ? [...args] : [...others, '--', ...cursors],
      options: { ...command.options, json: { type: 'boolean' } },
      allowPositionals: command.usage.startsWith('<'),
    });
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', 'That is not how it is called. See --help.', { cause });
  }
}

function createSession<Store>(
  {
    command,
    ...parts
  }: Pick<Session<Store>, 'store' | 'settings' | 'options' | 'words'> & {
    readonly command: Command<Store>;
  },
  { stdout, stderr, stopOnSignal }: Surroundings,
): Session<Store> {
  const isJson = parts.options.json === true;
  const toText = isJson ? undefined : command.format;
  return {
    ...parts,
    print: async (line) => {
      const text = toText ? [line].flat().map(toText).join('\n') : JSON.stringify(line);
      if (!stdout.write(`${text}\n`)) await once(stdout, 'drain');
    },
    report: (message) => void stderr.write(`${isJson ? JSON.stringify({ message }) : message}\n`),
    signal: stopOnSignal(),
  };
}

/** @returns the position that a person typed; null unless it is a whole number */
export function readPosition(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
