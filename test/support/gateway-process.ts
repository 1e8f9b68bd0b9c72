import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compileCache } from './compile-cache.ts';

/** A gateway in a process of its own, so that it can be killed like one. */
export interface GatewayProcess {
  readonly pid: number;
  readonly url: string;
  /** Everything that it has printed and logged. */
  readonly output: readonly string[];
  /** Ends it, where it still runs, and resolves with its exit code, or null when a signal ended it. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | null>;
}

/** What `npm start` runs. */
export const startFile = fileURLToPath(new URL('../../start.js', import.meta.url));

/** Starts a gateway in a folder and resolves once it prints its address. `onLine` gets each line from the start on. */
export async function startGatewayProcess(
  folder: string,
  env: Readonly<Record<string, string>>,
  onLine?: (line: string, pid: number) => void,
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [startFile], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const url = await readAddress(child, { output, onLine });
  return {
    pid: child.pid ?? 0,
    url,
    output,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = await exit;
      return code;
    },
  };
}

interface Lines {
  readonly output: string[];
  readonly onLine: ((line: string, pid: number) => void) | undefined;
}

async function readAddress(child: ChildProcess, { output, onLine }: Lines): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) throw new Error('The process has no output.');
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      onLine?.(line, child.pid ?? 0);
      const address = /^Labgraph is listening on (http:\S+)$/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
  }
  child.once('exit', (code) => reject(new Error(`The gateway ended with ${code}:\n${output.join('\n')}`)));
  return await promise;
}
