const SHORTEST_POLL_SECONDS = 10;
export const DEFAULT_POLL_SECONDS = 30;
/** A browser's timer of more than 24 days fires at once. */
const LONGEST_POLL_SECONDS = 86_400;

/** Seconds between two reads, within what is allowed; 0 = never. */
export function readPollInterval(asked: number): number {
  const isAllowed = asked === 0 || asked >= SHORTEST_POLL_SECONDS;
  return isAllowed ? Math.min(asked, LONGEST_POLL_SECONDS) : DEFAULT_POLL_SECONDS;
}
