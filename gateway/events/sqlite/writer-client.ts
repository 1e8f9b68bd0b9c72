import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { IdempotencyRecords } from '../idempotency.ts';
import type { Appended, NewMessage, OneTimeValues } from '../log.ts';
import { AnswerTimeout, within } from '../within.ts';
import type { FileIdentity } from './log-file.ts';
import type { LogWriter, Written } from './writer.ts';

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
    // The connection is the store's, which closes it.
    close: async () => {},
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
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'The write could not be made durable.', {
    cause,
  });
}

/** How long a call or a message waits for the disk, in milliseconds: the sender of a webhook waits for 15 s. */
const answerMs = 10_000;

/**
 * The same writer for calls for which somebody waits: one that the disk does not answer in time fails, and may be done
 * nevertheless.
 */
export function answerInTime(writer: Writer): Pick<Writer, 'call'> {
  return {
    call: async (name, ...args) => {
      try {
        return await within(answerMs, writer.call(name, ...args));
      } catch (error) {
        throw error instanceof AnswerTimeout ? unavailable(error) : error;
      }
    },
  };
}

export function createIdempotencyRecords(writer: Pick<Writer, 'call'>): IdempotencyRecords {
  return {
    begin: (key, fingerprint) => writer.call('beginIdempotent', key, fingerprint, new Date()),
    isOfAnother: (key, fingerprint) => writer.call('isIdempotentOfAnother', key, fingerprint),
    reclaim: (key, since) => writer.call('reclaimIdempotent', key, since, new Date()),
    finish: (key, answer) => writer.call('finishIdempotent', key, answer),
    release: (key) => writer.call('releaseIdempotent', key),
  };
}

export function createOneTimeValues(writer: Pick<Writer, 'call'>): OneTimeValues {
  return {
    put: (key, value, until) => writer.call('putOneTimeValue', key, value, { until, now: new Date() }),
    take: (key) => writer.call('takeOneTimeValue', key, new Date()),
  };
}

/** Messages per transaction at most. A transaction delays the next one. */
const maxGroup = 500;
export interface AppendListener {
  /** Called first for each group, with the end of the log before it. Another process may have appended meanwhile. */
  readonly onFollows: (end: number) => void;
  /** Called for each message before it is acknowledged. */
  readonly onAppended: (message: NewMessage, written: Written) => void;
}

interface Pending {
  readonly message: NewMessage;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** Groups appends: the writer has one group at a time, and messages that arrive meanwhile are the next group. */
export class AppendQueue {
  readonly #writer: Writer;
  readonly #listener: AppendListener;
  readonly #pending: Pending[] = [];
  #writing: Promise<void> | null = null;
  #group = Promise.resolve();
  /** The writer has not answered in time and still works on a group. */
  #isSilent = false;

  constructor(writer: Writer, listener: AppendListener) {
    this.#writer = writer;
    this.#listener = listener;
  }

  /**
   * Resolves when the message is durable.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE; the message may be stored nevertheless, and a repeated one is a duplicate then
   */
  add(message: NewMessage): Promise<Appended> {
    if (this.#isSilent) return Promise.reject(unavailable(new AnswerTimeout('The disk does not answer.')));
    return new Promise((resolve, reject) => {
      this.#pending.push({ message, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  get isWriting(): boolean {
    return this.#writing !== null;
  }

  /** Settles when the writer has answered for its current group, or has failed. Never rejects. */
  settled(): Promise<void> {
    return this.#group;
  }

  /** Settles when everything that was added is written, or has failed. Never rejects. */
  async finish(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // All appends of this turn of the event loop join the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) {
      this.#group = this.#writeGroup(this.#pending.splice(0, maxGroup));
      await this.#group;
    }
    this.#writing = null;
  }

  async #writeGroup(group: readonly Pending[]): Promise<void> {
    try {
      const messages = packBodies(group.map(({ message }) => message));
      const writing = this.#writer.call('append', messages);
      const { follows, written } = await within(answerMs, writing).catch((error: unknown) => {
        if (!(error instanceof AnswerTimeout)) throw error;
        this.#isSilent = true;
        this.#refuse(group, unavailable(error));
        // The listener is called for what is stored later.
        return writing;
      });
      this.#listener.onFollows(follows);
      for (const [index, { message, resolve, reject }] of group.entries()) {
        const result = written[index] ?? null;
        if (result === null) {
          reject(new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event cannot be stored as it is.'));
          continue;
        }
        this.#listener.onAppended(message, result);
        resolve(result.appended);
      }
    } catch (error) {
      this.#refuse(group, error);
    } finally {
      this.#isSilent = false;
    }
  }

  /** Those that wait fail too. Otherwise they would be stored before the ones that failed, which come again. */
  #refuse(group: readonly Pending[], error: unknown): void {
    for (const { reject } of [...group, ...this.#pending.splice(0)]) reject(error);
  }
}

/**
 * The same messages with their bodies in one block of memory. A message to a thread takes each block that it touches with
 * it as a whole, and a body that was received or decompressed is a small part of one.
 */
function packBodies(messages: readonly NewMessage[]): readonly NewMessage[] {
  const total = messages.reduce((sum, { body }) => sum + body.length, 0);
  const block = Buffer.allocUnsafeSlow(total);
  let end = 0;
  return messages.map((message) => {
    const start = end;
    end += message.body.copy(block, start);
    return { ...message, body: block.subarray(start, end) };
  });
}
