import process from 'node:process';

/** How often a property is tried: as often as given by `npm run test:long`, and a quarter of it by `npm test`. */
export function runs(full: number): number {
  return process.env.ALL_RUNS === '1' ? full : Math.ceil(full / 4);
}
