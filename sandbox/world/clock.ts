/** The time of the sandbox in epoch milliseconds: the real time, but always later than any time returned before. */
export interface Clock {
  readonly now: () => number;
}

/** A clock whose first time is later than `notBeforeMs`, so that history never runs backwards. */
export function createClock(notBeforeMs: number): Clock {
  let lastMs = notBeforeMs;
  return {
    now() {
      lastMs = Math.max(Date.now(), lastMs + 1);
      return lastMs;
    },
  };
}

/** `2025-03-02T09:00:00+00:00`, with microseconds only where the time has a fraction (public service). */
export function formatTimestamp(timeMs: number): string {
  const [seconds = '', fraction = '000Z'] = new Date(timeMs).toISOString().split('.');
  return fraction === '000Z' ? `${seconds}+00:00` : `${seconds}.${fraction.replace('Z', '000')}+00:00`;
}

/** `2025-03-02T09:00:00.000000Z`, the spelling used inside order transactions (public service). */
export function formatMicroseconds(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000Z');
}
