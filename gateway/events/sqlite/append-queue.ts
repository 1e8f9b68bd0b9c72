import { GatewayError } from '../../errors.ts';
import type { Appended, NewMessage } from '../log.ts';
import type { Writer } from './writer-client.ts';

/** Messages per transaction at most. A transaction delays the next one. */
const maxGroup = 500;

export interface AppendListener {
  /** Called first for each group, with the end of the log before it. Another process may have appended meanwhile. */
  readonly onFollows: (end: number) => void;
  /** Called for each message before it is acknowledged. */
  readonly onAppended: (message: NewMessage, appended: Appended) => void;
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

  constructor(writer: Writer, listener: AppendListener) {
    this.#writer = writer;
    this.#listener = listener;
  }

  /** Resolves when the message is durable. */
  add(message: NewMessage): Promise<Appended> {
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
      const messages = group.map(({ message }) => message);
      const { follows, appended } = await this.#writer.call('append', messages);
      this.#listener.onFollows(follows);
      for (const [index, { message, resolve, reject }] of group.entries()) {
        const result = appended[index] ?? null;
        if (result === null) {
          reject(new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event cannot be stored as it is.'));
          continue;
        }
        this.#listener.onAppended(message, result);
        resolve(result);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
