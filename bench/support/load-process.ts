import { fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

/** The functions of a load process, by name. Arguments and answers are cloned. */
export type Calls = Readonly<Record<string, (arg: never) => Promise<unknown>>>;

interface Ask {
  readonly id: number;
  readonly name: string;
  readonly arg: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly fault?: string;
}

export interface LoadProcess<C extends Calls> {
  readonly call: <Name extends keyof C & string>(
    name: Name,
    arg: Parameters<C[Name]>[0],
  ) => Promise<Awaited<ReturnType<C[Name]>>>;
  readonly pid: number;
  readonly end: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Starts a separate process for load, so that its cost does not affect the gateway or other load. */
export function startLoadProcess<C extends Calls>(module: URL): LoadProcess<C> {
  const child = fork(module, { serialization: 'advanced', execArgv: [] });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  child.on('message', ({ id, value, fault }: Answer) => {
    const call = waiting.get(id);
    waiting.delete(id);
    // The process answers with what its call of this name returned: `call` pairs the two types.
    if (fault === undefined) call?.resolve(value as never);
    else call?.reject(new Error(fault));
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`A load process ended with ${code ?? signal}.`));
  });
  return {
    pid: child.pid ?? 0,
    call: (name, arg) => {
      asked += 1;
      const ask: Ask = { id: asked, name, arg };
      const answered = new Promise<never>((resolve, reject) => waiting.set(ask.id, { resolve, reject }));
      child.send(ask);
      return answered;
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** In the load process: answers the calls. */
export function serveCalls(calls: Calls): void {
  const answer = async ({ id, name, arg }: Ask): Promise<Answer> => {
    try {
      // Names and arguments come from `startLoadProcess` with the types of these very calls.
      return { id, value: await calls[name]?.(arg as never) };
    } catch (error) {
      return { id, fault: error instanceof Error ? (error.stack ?? error.message) : 'not an error' };
    }
  };
  process.on('message', async (ask: Ask) => process.send?.(await answer(ask)));
  // An orphan has nobody to work for.
  process.on('disconnect', () => process.exit());
}
