import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Given by the projects of `npm run test:long`. */
    readonly allCases?: boolean;
  }
}

const isAll = inject('allCases') === true;

/** How often a property is tried: as often as given by `npm run test:long`, and a quarter of it by `npm test`. */
export function runs(full: number): number {
  return isAll ? full : Math.ceil(full / 4);
}

/**
 * Of a product of rows and cases, the cases for one row: all of them by `npm run test:long`; by `npm test` only `count`,
 * others for the next row, so that every case still meets a row and every row a case.
 */
export function casesFor<Case>(row: number, cases: readonly Case[], count = 1): readonly Case[] {
  if (isAll) return cases;
  const { length } = cases;
  const start = (row * count) % length;
  return cases.filter((_, place) => (place - start + length) % length < count);
}
