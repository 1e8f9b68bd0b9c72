import { isGatewayError, withOutcome } from '../errors.ts';

/**
 * Finds out by a read whether a write was done whose answer was lost.
 * @param look reads the outcome that was asked for: null when it did not come about, undefined when a read cannot show
 *   it. A state that was there before the write proves nothing
 * @throws the error itself when no answer was lost, or when nothing shows that the write was done. Where the service
 *   said that it failed and the look shows the same, the error says that nothing was done
 */
export async function settleLost<Outcome>(
  error: unknown,
  look: () => Promise<Outcome | null | undefined>,
): Promise<Outcome> {
  if (!isGatewayError(error) || !error.mayBeDone) throw error;
  const found = await look().catch(() => undefined);
  if (found === undefined) throw error;
  if (found === null) throw error.isOwnFailure ? error.withOutcome(false) : error;
  return found;
}

/** What follows a write that succeeded: its errors say that the write may have been done. */
export function afterWrite<Outcome>(run: () => Promise<Outcome>): Promise<Outcome> {
  return runWithOutcome(run, true);
}

/** What comes before a write, or after its refusal: its errors say that nothing was done. */
export function withoutWrite<Outcome>(run: () => Promise<Outcome>): Promise<Outcome> {
  return runWithOutcome(run, false);
}

async function runWithOutcome<Outcome>(run: () => Promise<Outcome>, mayBeDone: boolean): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    throw withOutcome(error, mayBeDone);
  }
}
