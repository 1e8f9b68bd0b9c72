import { canary, type Variables } from '../mutations/row.ts';

/** Every text that was planted, in lower case: a leak may change its case. */
export class Planted {
  readonly #texts = new Set<string>();
  #serial = 0;

  /** All of them; each begins with the canary, so one that is looked for and not listed here cannot be missed. */
  get texts(): readonly string[] {
    return [...this.#texts];
  }

  /** A text of its own, for what is planted elsewhere than in an input. */
  text(where: string): string {
    return this.#record(`${canary}${this.#next()}${where}`);
  }

  /** The same arguments, where each text that has the canary in it is one of its own: a leak then says of what. */
  inputs(variables: Variables): Variables {
    return Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, this.#within(name, value)]),
    );
  }

  #within(name: string, value: unknown): unknown {
    if (typeof value === 'string') {
      return value.replaceAll(canary, () => this.#record(`${canary}${this.#next()}${name}`));
    }
    if (Array.isArray(value)) return value.map((item) => this.#within(name, item));
    if (value instanceof File) return value;
    if (typeof value !== 'object' || value === null) return value;
    return this.inputs(value as Variables);
  }

  /** Letters, which every field takes. */
  #next(): string {
    this.#serial += 1;
    return [...String(this.#serial)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  }

  #record(text: string): string {
    this.#texts.add(text.toLowerCase());
    return text;
  }
}
