import { parseJson } from '../parse/json.ts';
import type { Fetched } from './failure.ts';
import { type OnUnreadable, readNoting } from './unreadable.ts';

/** The heap that a thing takes for each byte of the text that it was read from. */
const heapPerByte = 1.15;

/**
 * An answer as the cache holds it: its text until somebody shares it, and from then on the thing that the reader makes of it.
 * Most answers are never shared, and the garbage collector copies and marks a text as one object (decision 0130).
 */
export class SharedAnswer<T> {
  readonly reader: (json: unknown) => T;
  #text: string | null;
  #thing: T | undefined;

  /** @throws GatewayError UPSTREAM_UNREADABLE, or the reader's own */
  constructor(reader: (json: unknown) => T, { json, text }: Fetched, onUnreadable: OnUnreadable | undefined) {
    this.reader = reader;
    this.#text = text;
    this.#thing = json === undefined ? undefined : readNoting(reader, json, onUnreadable);
  }

  /** What the reader makes of the answer; undefined for 404. */
  get thing(): T | undefined {
    if (this.#thing === undefined && this.#text !== null) {
      this.#thing = readNoting(this.reader, parseJson(this.#text));
      this.#text = null;
    }
    return this.#thing;
  }

  /** The heap that it takes at most, in bytes. */
  get size(): number {
    const text = this.#text ?? '';
    const bytes = Buffer.byteLength(text);
    const thing = Math.ceil(heapPerByte * bytes);
    // A character of the text takes one byte, or two if there is one beyond Latin-1.
    return bytes === text.length ? thing : Math.max(thing, 2 * text.length);
  }

  /** Holds nothing but the text, until somebody asks for the thing. */
  releaseThing(): void {
    if (this.#text !== null) this.#thing = undefined;
  }
}
