import { isGatewayError } from '../../errors.ts';

/**
 * What became of a write whose answer was lost, as a read shows it now.
 * @param look finds the outcome that was asked for, or null when it did not come about
 * @throws the error itself when no answer was lost, or when nothing shows that the write was done
 */
export async function settleLost<Outcome>(
  error: unknown,
  look: () => Promise<Outcome | null>,
): Promise<Outcome> {
  if (!isAnswerLost(error)) throw error;
  const found = await look().catch(() => null);
  if (found === null) throw error;
  return found;
}

function isAnswerLost(error: unknown): boolean {
  return (
    isGatewayError(error, 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNREADABLE') && !error.notSent
  );
}
