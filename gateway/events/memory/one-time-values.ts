import type { OneTimeValues } from '../one-time-values.ts';

/** How many are kept; beyond it the oldest go early. Nothing else bounds them here. */
const maxOneTimeValues = 10_000;

interface StoredValue {
  /** As JSON, so that it comes back as from the other stores. */
  readonly value: string;
  readonly until: number;
}

/** One-time values in memory, beside the memory log. */
export function createMemoryOneTimeValues(): OneTimeValues {
  const oneTimeValues = new Map<string, StoredValue>();

  /** They stand in the order they came, and nearly all end in that order too. */
  const makeRoom = () => {
    for (const [key, { until }] of oneTimeValues) {
      if (until > Date.now() && oneTimeValues.size < maxOneTimeValues) return;
      oneTimeValues.delete(key);
    }
  };
  return {
    put: async (key, value, until) => {
      makeRoom();
      oneTimeValues.set(key, { value: JSON.stringify(value), until: until.getTime() });
    },
    take: async (key) => {
      const found = oneTimeValues.get(key);
      oneTimeValues.delete(key);
      return found !== undefined && found.until > Date.now() ? JSON.parse(found.value) : null;
    },
  };
}
