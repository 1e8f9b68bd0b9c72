import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { program as labgraphProgram } from '../../cli/program.ts';
import { program as auditProgram } from '../../gateway/commands/audit.ts';
import { program as eventsProgram } from '../../gateway/commands/events.ts';
import { type Program, runProgram } from '../../gateway/commands/program.ts';
import { compileCache } from './compile-cache.ts';

const events = fileURLToPath(new URL('../../gateway/commands/events.ts', import.meta.url));
const audit = fileURLToPath(new URL('../../gateway/commands/audit.ts', import.meta.url));

export interface RunningCommand {
  /** The next line of its output, parsed, or null when there are no more. */
  readonly nextLine: () => Promise<Record<string, unknown> | null>;
  /** Asks it to end; resolves with its exit code. */
  readonly end: () => Promise<number>;
}

export interface CommandResult {
  readonly code: number;
  readonly text: string;
  /** Its output where that is JSON lines. */
  readonly lines: () => readonly Record<string, unknown>[];
  /** Its messages to the person who called it. */
  readonly said: string;
}

type Environment = Readonly<Record<string, string>>;

function start(program: string, env: Environment, args: readonly string[]) {
  return spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs `npm run events -- <args>` to its end, in a process of its own. */
export function runCommand(env: Environment, ...args: readonly string[]): Promise<CommandResult> {
  return runToEnd(start(events, env, args));
}

/** Runs `npm run audit -- <args>` to its end, in a process of its own. */
export function runAudit(env: Environment, ...args: readonly string[]): Promise<CommandResult> {
  return runToEnd(start(audit, env, args));
}

/** What `npm run events -- <args>` does, within this process: a tenth of the work where the process is not tested. */
export function callCommand(env: Environment, ...args: readonly string[]): Promise<CommandResult> {
  return callProgram(eventsProgram, env, args);
}

/** What `npm run audit -- <args>` does, within this process. */
export function callAudit(env: Environment, ...args: readonly string[]): Promise<CommandResult> {
  return callProgram(auditProgram, env, args);
}

/** What `labgraph <args>` does, within this process. */
export function callLabgraph(env: Environment, ...args: readonly string[]): Promise<CommandResult> {
  return callProgram(labgraphProgram, env, args);
}

async function runToEnd(child: ReturnType<typeof start>): Promise<CommandResult> {
  const exit = once(child, 'exit');
  const [text, said] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  const [code] = await exit;
  return { code, text, lines: () => readLines(text), said };
}

/** Runs a program with these arguments in this process. */
export async function callProgram<Store>(
  program: Program<Store>,
  env: Environment,
  args: readonly string[],
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stopOnSignal = () => new AbortController().signal;
  const ended = runProgram(program, { args, env, stdout, stderr, stopOnSignal });
  const [text, said, code] = await Promise.all([
    readAll(stdout),
    readAll(stderr),
    ended.finally(() => {
      stdout.end();
      stderr.end();
    }),
  ]);
  return { code, text, lines: () => readLines(text), said };
}

function readLines(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Starts a command that goes on until it is asked to end. */
export function startCommand(env: Environment, ...args: readonly string[]): RunningCommand {
  const child = start(events, env, args);
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    nextLine: async () => {
      const { value, done } = await lines.next();
      return done ? null : JSON.parse(value);
    },
    end: async () => {
      child.kill('SIGTERM');
      const [code] = await exit;
      return code;
    },
  };
}
