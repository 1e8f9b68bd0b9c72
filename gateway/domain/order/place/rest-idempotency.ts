import { GatewayError, isGatewayError } from '../../../errors.ts';
import type { Write } from '../../../service/calls.ts';
import type { Service } from '../../../service/service.ts';

/**
 * Writes under an idempotency key of the service. The service is asked to replay successes only: otherwise it would replay a
 * refusal or a transient fault for days.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED while the service still works on the same key; otherwise as `Service.write`
 */
export async function writeUnderKey<Outcome>(
  service: Service,
  key: string,
  write: Write<Outcome>,
): Promise<Outcome | null> {
  const headers = { 'x-idempotency-key': key, 'x-idempotency-error': 'no-cache' };
  try {
    return await service.write({ ...write, headers });
  } catch (error) {
    if (!isGatewayError(error, 'UPSTREAM_REJECTED') || error.status !== 409) throw error;
    throw new GatewayError(
      'IDEMPOTENCY_UNSETTLED',
      'The service is still at work on a call with this idempotencyKey. Repeat the same call later.',
      { retryAfterMs: 5000, mayBeDone: true },
    );
  }
}
