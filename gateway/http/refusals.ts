import { type GatewayError, isGatewayError } from '../errors.ts';
import { describeGatewayError } from '../execution/mask.ts';

/**
 * The answer to a request that is refused before it is read, on the direct path and on Yoga's.
 * @throws the error itself where it is none of those
 */
export function answerRefusal(error: unknown): Response {
  if (isGatewayError(error, 'UNAUTHENTICATED')) return refuseUnauthenticated(error);
  if (isGatewayError(error, 'RATE_LIMITED', 'FORBIDDEN', 'UPSTREAM_RATE_LIMITED')) return refuseEarly(error);
  throw error;
}

function refuseUnauthenticated(error: GatewayError): Response {
  return Response.json(
    {
      errors: [describeGatewayError(error).toJSON()].map(({ message, extensions }) => ({
        message,
        extensions: { code: extensions?.code },
      })),
    },
    { status: 401, headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' } },
  );
}

function refuseEarly(error: GatewayError): Response {
  const { message, extensions } = describeGatewayError(error);
  const { http: _http, ...told } = extensions;
  const wait =
    error.retryAfterMs === undefined ? {} : { 'retry-after': String(extensions.retryAfterSeconds) };
  return Response.json(
    { errors: [{ message, extensions: told }] },
    { status: error.code === 'FORBIDDEN' ? 403 : 429, headers: { 'cache-control': 'no-store', ...wait } },
  );
}
