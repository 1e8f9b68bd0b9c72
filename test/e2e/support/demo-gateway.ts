import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { compileCache } from '../../support/compile-cache.ts';
import { startFile } from '../../support/gateway-process.ts';

/** The gateway as `npm start` runs it, with nothing configured, in an empty folder of its own. */
export interface DemoGateway {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Settles when the gateway has printed its address; rejects when it ends before that.
 * @param settings environment variables besides the port
 */
export async function startDemoGateway(
  settings: Readonly<Record<string, string>> = {},
): Promise<DemoGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-demo-'));
  const { PATH = '' } = process.env;
  const child = spawn('node', [startFile], {
    cwd: folder,
    env: { PATH, PORT: '0', NODE_COMPILE_CACHE: compileCache, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readAddress(child);
  child.stdout?.resume();
  return {
    url,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readAddress({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The gateway has no output to read.');
  for await (const line of createInterface({ input: stdout })) {
    const address = /^Labgraph is listening on (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('The gateway ended before it printed its address.');
}
