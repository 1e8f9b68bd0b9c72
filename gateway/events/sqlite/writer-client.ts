import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { FileIdentity } from './same-file.ts';
import type { Writing } from './writer.ts';

export interface WriterData {
  readonly path: string;
  readonly keys: readonly Uint8Array[];
  /** Nothing is acknowledged unless these files are where they were. */
  readonly files: readonly FileIdentity[];
}

export interface Ask {
  readonly id: number;
  readonly name: keyof Writing;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly isDone: true; readonly value: unknown }
  | { readonly id: number; readonly isDone: false; readonly reason: string };

/** The thread that writes to the log's file, seen from the thread that serves. */
export interface WriterThread {
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE when it was not made durable, or the thread died before saying so */
  readonly call: <Name extends keyof Writing>(
    name: Name,
    ...args: Parameters<Writing[Name]>
  ) => Promise<ReturnType<Writing[Name]>>;
  /** Finishes what was asked, then ends the thread. */
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: GatewayError) => void;
}

/** Starts the thread; one that dies (out of memory) is started again with the next call. */
export function startWriterThread(data: WriterData): WriterThread {
  const waiting = new Map<number, Waiting>();
  let isClosed = false;
  let asked = 0;
  let worker: Worker | null = null;

  const settle = (answer: Answer) => {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    // The writer answers with what its function of this name returned: `call` pairs the two types.
    if (answer.isDone) call?.resolve(answer.value as never);
    else call?.reject(unavailable(new Error(answer.reason)));
  };
  const start = () => {
    const started = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: data });
    const fail = (cause: unknown) => {
      if (worker === started) worker = null;
      for (const { reject } of waiting.values()) reject(unavailable(cause));
      waiting.clear();
    };
    started.on('message', settle);
    started.on('error', fail);
    started.on('exit', () => fail(new Error('The writer thread ended.')));
    return started;
  };
  const call: WriterThread['call'] = (name, ...args) => {
    if (isClosed) return Promise.reject(unavailable(new Error('The log is closed.')));
    worker ??= start();
    asked += 1;
    const ask: Ask = { id: asked, name, args };
    const answered = new Promise<never>((resolve, reject) => waiting.set(ask.id, { resolve, reject }));
    worker.postMessage(ask);
    return answered;
  };

  worker = start();
  return {
    call,
    close: async () => {
      if (isClosed) return;
      const closing = call('close');
      isClosed = true;
      await closing.catch(() => undefined);
      await worker?.terminate();
    },
  };
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'What was to be kept could not be made durable.', {
    cause,
  });
}
