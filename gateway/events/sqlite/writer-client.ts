import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { FileIdentity } from './log-file.ts';
import type { LogWriter } from './writer.ts';

export interface WriterData {
  readonly path: string;
  readonly keys: readonly Uint8Array[];
  /** Nothing is acknowledged unless these paths still lead to the same files. */
  readonly files: readonly FileIdentity[];
}

export interface WriterRequest {
  readonly id: number;
  readonly name: keyof LogWriter;
  readonly args: readonly unknown[];
}

export type WriterResponse =
  | { readonly id: number; readonly isDone: true; readonly value: unknown }
  | { readonly id: number; readonly isDone: false; readonly reason: string };

interface PendingCall {
  readonly resolve: (value: never) => void;
  readonly reject: (error: GatewayError) => void;
}

/** Does the writes of a log. */
export interface Writer {
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE when the write failed, or the thread died before it answered */
  readonly call: <Name extends keyof LogWriter>(
    name: Name,
    ...args: Parameters<LogWriter[Name]>
  ) => Promise<ReturnType<LogWriter[Name]>>;
  /** Finishes the calls made so far. */
  readonly close: () => Promise<void>;
}

/** Writes on this thread, for a log in memory: nothing waits for a disk. */
export function createLocalWriter(writer: LogWriter): Writer {
  return {
    call: async (name, ...args) => {
      try {
        return Reflect.apply(writer[name], writer, args);
      } catch (cause) {
        throw unavailable(cause);
      }
    },
    close: async () => writer.close(),
  };
}

/** Calls the thread that writes to the log's file. A thread that died (out of memory) is started again by the next call. */
export class WriterClient implements Writer {
  readonly #data: WriterData;
  readonly #pending = new Map<number, PendingCall>();
  #isClosed = false;
  #lastId = 0;
  #worker: Worker | null;

  constructor(data: WriterData) {
    this.#data = data;
    this.#worker = this.#start();
  }

  call<Name extends keyof LogWriter>(
    name: Name,
    ...args: Parameters<LogWriter[Name]>
  ): Promise<ReturnType<LogWriter[Name]>> {
    if (this.#isClosed) return Promise.reject(unavailable(new Error('The log is closed.')));
    this.#worker ??= this.#start();
    this.#lastId += 1;
    const request: WriterRequest = { id: this.#lastId, name, args };
    const answered = new Promise<never>((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject });
    });
    this.#worker.postMessage(request);
    return answered;
  }

  /** Finishes the calls made so far, then ends the thread. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    const closing = this.call('close');
    this.#isClosed = true;
    await closing.catch(() => undefined);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: this.#data });
    const fail = (cause: unknown) => {
      if (this.#worker === worker) this.#worker = null;
      for (const { reject } of this.#pending.values()) reject(unavailable(cause));
      this.#pending.clear();
    };
    worker.on('message', (response: WriterResponse) => this.#settle(response));
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('The writer thread ended.')));
    return worker;
  }

  #settle(response: WriterResponse): void {
    const call = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    // The value is the result of the method that `call` named, so the types fit.
    if (response.isDone) call?.resolve(response.value as never);
    else call?.reject(unavailable(new Error(response.reason)));
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'What was to be kept could not be made durable.', {
    cause,
  });
}
