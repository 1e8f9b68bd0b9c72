import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';

const timeoutMs = 15_000;

/** The inspector of a running process of Node. */
export interface Inspector extends Disposable {
  /** Calls a method of the Chrome DevTools protocol; rejects when the process refuses it. */
  readonly call: (method: string, params?: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Makes a process open its inspector (SIGUSR1), and finds the address in the process's output. */
export async function findInspector(pid: number, output: readonly string[]): Promise<string> {
  process.kill(pid, 'SIGUSR1');
  const end = Date.now() + timeoutMs;
  while (Date.now() < end) {
    const address = output
      .map((line) => /^Debugger listening on (ws:\S+)$/.exec(line)?.[1])
      .findLast((found) => found !== undefined);
    if (address !== undefined) return address;
    await wait(20);
  }
  throw new Error('The process did not open its inspector.');
}

export async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (reply: Reply) => void>();
  let asked = 0;
  socket.on('message', (bytes: Buffer) => {
    const reply: Reply = JSON.parse(bytes.toString());
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  return {
    call: async (method, params = {}) => {
      asked += 1;
      const { promise, resolve } = Promise.withResolvers<Reply>();
      waiting.set(asked, resolve);
      socket.send(JSON.stringify({ id: asked, method, params }));
      const { result, error } = await promise;
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    [Symbol.dispose]: () => socket.terminate(),
  };
}
