import type { EventLog } from './log.ts';
import { Seal } from './seal.ts';

/** Marks of the event log whose texts are secrets: sealed like a body, each in its own mark. */
export class SealedMarks {
  readonly #log: EventLog;
  readonly #seal: Seal;
  readonly #prefix: string;

  /** @param keys those of the log: the first seals, all open */
  constructor(
    log: EventLog,
    { keys, prefix }: { readonly keys: readonly Buffer[]; readonly prefix: string },
  ) {
    this.#log = log;
    this.#seal = new Seal(keys);
    this.#prefix = prefix;
  }

  /** All texts by their names; null for one that no key decrypts. @throws GatewayError EVENT_LOG_UNAVAILABLE */
  async readAll(): Promise<ReadonlyMap<string, string | null>> {
    const marks = await this.#log.readMarks(this.#prefix);
    return new Map(
      [...marks].map(([mark, sealed]) => [
        mark.slice(this.#prefix.length),
        this.#seal.openText(sealed, mark),
      ]),
    );
  }

  /**
   * Seals the texts again that are not sealed with the first key. It writes no others, because another gateway may drop a text
   * between the read and the write.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  async sealAnew(): Promise<void> {
    for (const [mark, sealed] of await this.#log.readMarks(this.#prefix)) {
      const text = this.#seal.isNewest(sealed, mark) ? null : this.#seal.openText(sealed, mark);
      if (text !== null) await this.write(mark.slice(this.#prefix.length), text);
    }
  }

  /** Resolves when it is durable. @throws GatewayError EVENT_LOG_UNAVAILABLE */
  async write(name: string, text: string): Promise<void> {
    const mark = this.#prefix + name;
    await this.#log.writeMark(mark, this.#seal.closeText(text, mark) ?? '');
  }

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  drop(name: string): Promise<void> {
    return this.#log.dropMark(this.#prefix + name);
  }
}
