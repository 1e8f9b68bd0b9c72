import type { Log } from '../log.ts';
import { createThrottle } from './throttle.ts';

/** How far a message's time may be off (the signature scheme's own bound). */
const toleranceSeconds = 300;
/** From here on somebody should look at a clock, before messages are refused. */
const noticeableSeconds = 60;

const advice =
  "Set this machine's clock; if it is right, the sender's is not, or messages are held up on their way.";

export interface ClockOptions {
  readonly log: Log;
  /** Told of every signed message: how many seconds after its signing it came, negative for one from the future. */
  readonly onOffset?: ((seconds: number) => void) | undefined;
}

/**
 * Watches how far the times of signed messages are off. The function it makes says whether a message is within
 * 300 s; from 60 s on it warns, at most once a minute.
 */
export function createClockCheck({ log, onOffset }: ClockOptions): (signedAtSeconds: number) => boolean {
  const warnThrottled = createThrottle();
  return (signedAtSeconds) => {
    const offSeconds = Math.floor(Date.now() / 1000) - signedAtSeconds;
    onOffset?.(offSeconds);
    if (Math.abs(offSeconds) > toleranceSeconds) {
      log.warn('webhook.stale', { offSeconds, advice });
      return false;
    }
    if (Math.abs(offSeconds) > noticeableSeconds)
      warnThrottled(() => log.warn('webhook.clock_off', { offSeconds, advice }));
    return true;
  };
}
