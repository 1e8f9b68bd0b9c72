/**
 * What the fake gateway answers. `data` and `errors` are a GraphQL answer, `status` is one of HTTP without any,
 * `unreachable` is no network, `silent` never answers.
 */
export type FakeAnswer =
  | { readonly data: Readonly<Record<string, unknown>> }
  | { readonly errors: readonly unknown[] }
  | { readonly status: number }
  | 'unreachable'
  | 'silent';

/** The portal is at this address: for `portal-url`. */
export function portalUrl(url: string): FakeAnswer {
  return { data: { launch: { __typename: 'PortalUrl', url } } };
}

/** A ticket for `POST /launch` of the gateway: for `launch-ticket`. */
export function launchTicket(ticket: string): FakeAnswer {
  return { data: { launch: { __typename: 'LaunchTicket', ticket } } };
}

/** The service refuses a portal: for `portal-url` and `launch-ticket`. */
export function portalRefused(
  refusal: 'DemographicsMissing' | 'FeatureNotEnabled' | 'NotFound' | 'InputRejected' | 'PortalUrlRejected',
): FakeAnswer {
  const launch =
    refusal === 'DemographicsMissing'
      ? { __typename: 'PortalUrlRejected', demographicsMissing: true }
      : { __typename: refusal };
  return { data: { launch } };
}

/**
 * An error of the gateway by its code (`UNAUTHENTICATED`, `UPSTREAM_TIMEOUT`, ...), for every operation. `requestId` is in
 * the error itself, so that a subscription can have one, too.
 */
export function gatewayError(code: string, requestId = 'request-1'): FakeAnswer {
  return { errors: [{ message: 'Refused.', extensions: { code, requestId } }] };
}

/** The answer as `fetch` gives it. */
export async function toResponse(
  answer: FakeAnswer,
  { signal, requestId }: { readonly signal: RequestInit['signal']; readonly requestId: string },
): Promise<Response> {
  if (answer === 'unreachable') throw new TypeError('Failed to fetch');
  if (answer === 'silent') return rejectOnAbort(signal);
  const headers = { 'x-request-id': requestId };
  if ('status' in answer) return new Response('{}', { status: answer.status, headers });
  return Response.json(answer, { headers });
}

function rejectOnAbort(signal: RequestInit['signal']): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
