import { isGatewayError } from '../errors.ts';

/**
 * What became of a write whose answer was lost, as a read shows it now.
 * @param look finds the outcome that was asked for, or null when it did not come about
 * @throws the error itself when no answer was lost, or when nothing shows that the write was done. Where the service
 *   said that it failed and the look shows the same, the error says that nothing was done
 */
export async function settleLost<Outcome>(
  error: unknown,
  look: () => Promise<Outcome | null>,
): Promise<Outcome> {
  if (!isGatewayError(error) || !error.mayBeDone) throw error;
  const found = await look().catch(() => undefined);
  if (found === undefined) throw error;
  if (found === null) throw error.isOwnFailure ? error.withOutcome(false) : error;
  return found;
}
