import { anyChange, nameOfOrder } from './change.ts';
import type { Standing } from './shelf.ts';

/**
 * What the answer to one operation rests on, noted while it runs: whether another may be given the same answer
 * (execution/whole-answers.ts) is told by what it did. It denies by default: what is not noted here as harmless makes the answer
 * its operation's own.
 */
export interface Basis {
  /** Only what a query is answered is ever given to another. */
  readonly beginQuery: () => void;
  /** It has ended, without an error in its answer: with one it is shared, and never kept. */
  readonly endWell: () => void;
  /** The answer is for this operation alone. */
  readonly keepApart: () => void;
  /** A read of the service has begun; the function it returns tells that its answer came, and whether it is shared. */
  readonly beginRead: () => (standing: Standing | null) => void;
  /** The log is asked for the newest version of an order; the function it returns tells that it has answered. */
  readonly beginLook: (orderId: string) => () => void;
  /** What the operation told somebody, and tells again for each other one that is given its answer; once per key. */
  readonly noteTold: (key: string, tellAgain: () => void) => void;
  /** The shared answers that it was made of, and of nothing else; null where it was made of anything more. */
  readonly restsOn: () => readonly Standing[] | null;
  readonly told: () => readonly (() => void)[];
}

export interface BasisOptions {
  /** Told when it is known to be a query. */
  readonly onQuery: () => void;
  /** Told when it is known that its answer is its own. */
  readonly onApart: () => void;
}

export function createBasis(options: BasisOptions): Basis {
  return new NotedBasis(options);
}

/** A class, so that its methods are shared: each query has one. */
class NotedBasis implements Basis {
  readonly #options: BasisOptions;
  #isQuery = false;
  #isApart = false;
  #hasEndedWell = false;
  /** What has begun and not ended; what fails never does. */
  #pending = 0;
  #hasUnshared = false;
  readonly #standings: Standing[] = [];
  readonly #looked: string[] = [];
  readonly #told = new Map<string, () => void>();

  constructor(options: BasisOptions) {
    this.#options = options;
  }

  beginQuery(): void {
    this.#isQuery = true;
    this.#options.onQuery();
  }

  endWell(): void {
    this.#hasEndedWell = true;
  }

  keepApart(): void {
    this.#isApart = true;
    this.#options.onApart();
  }

  beginRead(): (standing: Standing | null) => void {
    this.#pending += 1;
    return (standing) => {
      this.#pending -= 1;
      if (standing === null) this.#hasUnshared = true;
      else this.#standings.push(standing);
    };
  }

  beginLook(orderId: string): () => void {
    this.#pending += 1;
    this.#looked.push(nameOfOrder(orderId));
    return () => {
      this.#pending -= 1;
    };
  }

  noteTold(key: string, tellAgain: () => void): void {
    if (!this.#told.has(key)) this.#told.set(key, tellAgain);
  }

  restsOn(): readonly Standing[] | null {
    const isForOthers = this.#isQuery && !this.#isApart && this.#hasEndedWell;
    const isOfShared = isForOthers && this.#pending === 0 && !this.#hasUnshared;
    return isOfShared && this.#isCovered() ? this.#standings : null;
  }

  told(): readonly (() => void)[] {
    return [...this.#told.values()];
  }

  /** What the log says of an order is old as soon as the read that showed the order is: the same news tells of both. */
  #isCovered(): boolean {
    if (this.#looked.length === 0) return true;
    if (this.#standings.some(({ restsOn }) => restsOn.includes(anyChange))) return true;
    const names = new Set(this.#standings.flatMap(({ restsOn }) => restsOn));
    return this.#looked.every((name) => names.has(name));
  }
}

/**
 * The same part, whose every use makes the answer its operation's own: also of what is added to it later.
 * @param noted members that see to it themselves, in place of the part's own
 */
export function keepApartOnUse<Part extends object>(
  part: Part,
  basis: Basis,
  noted: Partial<Part> = {},
): Part {
  return new Proxy(part, {
    get: (target, name) => {
      if (name in noted) return Reflect.get(noted, name);
      basis.keepApart();
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
    apply: (target, self, given) => {
      basis.keepApart();
      return typeof target === 'function' ? Reflect.apply(target, self, given) : undefined;
    },
  });
}
