import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { compileCache } from './compile-cache.ts';

const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

interface Run {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export function startLabgraph({ args, env = {} }: Run): ChildProcess {
  return spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs `labgraph <args>` to its end. */
export async function runLabgraph(run: Run) {
  const child = startLabgraph(run);
  child.stdin?.end(run.input ?? '');
  const exit = once(child, 'exit');
  if (child.stdout === null || child.stderr === null) throw new Error('A command has no output.');
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  return { code, out, said };
}

/** Kills it as a machine that loses power does. */
export async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** Resolves with the first line on standard error that has this text. */
export async function hear(child: ChildProcess, part: string): Promise<string> {
  if (child.stderr === null) throw new Error('A command has no output.');
  for await (const line of createInterface({ input: child.stderr })) if (line.includes(part)) return line;
  throw new Error(`The command ended without "${part}".`);
}

/** A receiver that verifies what it gets, and answers each request with the next of these statuses, at last 200. */
export async function startTarget(secret: string, statuses: number[] = []) {
  const received: { readonly id: string; readonly event: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const header = (name: string) => String(request.headers[name]);
    const headers = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, header(name)]),
    );
    new Webhook(secret).verify(body, headers);
    const status = statuses.shift() ?? 200;
    if (status === 200) received.push({ id: header('webhook-id'), event: JSON.parse(body) });
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
