import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { HammerCalls, Hammering, LoadOutcome } from '../load/hammer.ts';
import { startLoadProcess } from '../support/load-process.ts';

/** A source of load, one period after the other. */
export interface Loader extends AsyncDisposable {
  readonly run: (load: Hammering) => Promise<LoadOutcome>;
}

/** @param folder where it may put files */
export function createLoader(wrk: string | null, folder: string): Loader {
  return wrk === null ? createHammer() : createWrk(wrk, folder);
}

const execute = promisify(execFile);
const script = fileURLToPath(new URL('../load/wrk.lua', import.meta.url));
const outcomeShape = z.object({
  requests: z.number(),
  nextTurn: z.number(),
  seconds: z.number(),
  failed: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
});

/** wrk, with one thread: it is never the bottleneck, and leaves the other cores free. It counts in whole seconds. */
function createWrk(wrk: string, folder: string): Loader {
  const file = join(folder, 'requests');
  let written: Hammering['requests'] | null = null;
  return {
    run: async (load) => {
      if (written !== load.requests)
        writeFileSync(file, load.requests.map(({ token, body }) => `${token}\t${body}\n`).join(''));
      written = load.requests;
      const { stdout } = await execute(wrk, [
        ...['--threads', '1', '--connections', String(load.connections), '--timeout', '10s'],
        ...['--duration', `${Math.max(1, Math.round(load.seconds))}s`, '--script', script],
        ...[load.url, '--', file, String(load.from)],
      ]);
      return outcomeShape.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A process of our own, where there is no wrk and for stretches of less than a second. */
function createHammer(): Loader {
  const load = startLoadProcess<HammerCalls>(new URL('../load/hammer.ts', import.meta.url));
  return { run: (wanted) => load.call('hammer', wanted), [Symbol.asyncDispose]: load.end };
}
