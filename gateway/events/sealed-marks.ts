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

  /** All texts by their names, without those that no key opens. @throws GatewayError EVENT_LOG_UNAVAILABLE */
  async readAll(): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    for (const [mark, sealed] of await this.#log.readMarks(this.#prefix)) {
      const text = this.#seal.openText(sealed, mark);
      if (text !== null) texts.set(mark.slice(this.#prefix.length), text);
    }
    return texts;
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
