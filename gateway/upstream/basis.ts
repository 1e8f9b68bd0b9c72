import { anyChange, nameOfOrder } from './change.ts';
import type { Standing } from './shelf.ts';
import type { Asked } from './trace.ts';

/**
 * What the answer to one operation rests on, noted while it runs: whether another may be given the same answer
 * (edge/whole-answers.ts) is told by what it did. It denies by default: what is not noted here as harmless makes the answer
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

export function createBasis({ onQuery, onApart }: BasisOptions): Basis {
  let isQuery = false;
  let [isApart, hasEndedWell] = [false, false];
  /** What has begun and not ended; what fails never does. */
  let pending = 0;
  const standings: Standing[] = [];
  let hasUnshared = false;
  const looked = new Set<string>();
  const told = new Map<string, () => void>();
  /** What the log says of an order is old as soon as the read that showed the order is: the same news tells of both. */
  const isCovered = () => {
    const names = new Set(standings.flatMap(({ restsOn }) => restsOn));
    return names.has(anyChange) || [...looked].every((name) => names.has(name));
  };
  return {
    beginQuery: () => {
      isQuery = true;
      onQuery();
    },
    endWell: () => {
      hasEndedWell = true;
    },
    keepApart: () => {
      isApart = true;
      onApart();
    },
    beginRead: () => {
      pending += 1;
      return (standing) => {
        pending -= 1;
        if (standing === null) hasUnshared = true;
        else standings.push(standing);
      };
    },
    beginLook: (orderId) => {
      pending += 1;
      looked.add(nameOfOrder(orderId));
      return () => {
        pending -= 1;
      };
    },
    noteTold: (key, tellAgain) => {
      if (!told.has(key)) told.set(key, tellAgain);
    },
    restsOn: () => {
      const isForOthers = isQuery && !isApart && hasEndedWell;
      const isOfShared = pending === 0 && !hasUnshared && isCovered();
      return isForOthers && isOfShared ? standings : null;
    },
    told: () => [...told.values()],
  };
}

/** The service, with each use of it noted. A read that fails never ends, whatever is made of its failure. */
export function noteUses(upstream: Asked, basis: Basis): Asked {
  return keepApartOnUse(upstream, basis, {
    read: async (call, options) => {
      if (call.isSingleUse) basis.keepApart();
      const endRead = basis.beginRead();
      let shared: Standing | null = null;
      const onStanding = (standing: Standing) => {
        shared = standing;
      };
      const json = await upstream.read(call, { ...options, onStanding });
      endRead(shared);
      return json;
    },
  });
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
