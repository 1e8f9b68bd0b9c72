import type { Deposits } from '../one-time-values.ts';

/** How many are kept; beyond it the oldest go early. Nothing else bounds them here. */
const maxDeposits = 10_000;

interface Deposit {
  /** As JSON, so that it comes back as from the other stores. */
  readonly value: string;
  readonly until: number;
}

/** Deposits in memory, beside the memory log. */
export function createMemoryDeposits(): Deposits {
  const deposits = new Map<string, Deposit>();

  /** They stand in the order they came, and nearly all end in that order too. */
  const makeRoom = () => {
    for (const [key, { until }] of deposits) {
      if (until > Date.now() && deposits.size < maxDeposits) return;
      deposits.delete(key);
    }
  };
  return {
    keep: async (key, value, until) => {
      makeRoom();
      deposits.set(key, { value: JSON.stringify(value), until: until.getTime() });
    },
    take: async (key) => {
      const found = deposits.get(key);
      deposits.delete(key);
      return found !== undefined && found.until > Date.now() ? JSON.parse(found.value) : null;
    },
  };
}
