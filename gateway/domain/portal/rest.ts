import { GatewayError } from '../../errors.ts';
import type { Service } from '../../service/service.ts';
import { number, optional, record, required, text, where } from '../parse.ts';
import { toRequestBody } from '../request-body.ts';

export interface PortalUrlRequest {
  readonly userId: string;
  readonly context: 'launch' | 'communications';
  readonly orderId: string | null;
}

export interface PortalUrl {
  /** Pre-authorized: a secret. Handed to the caller once; never stored, cached or logged. */
  readonly url: string;
  /** Unit as the service sends it: not stated by the specification. */
  readonly expiresIn: number;
}

const parsePortalUrl = record(
  (raw): PortalUrl => ({
    url: required(raw, 'url', text),
    expiresIn: required(raw, 'expires_in', number),
  }),
);

const readLink = optional(where(parsePortalUrl, ({ expiresIn }) => Number.isSafeInteger(expiresIn)));

/**
 * A pre-authorized link into the hosted portal (`POST /v2/user/{user_id}/create_portal_url`), or null when the
 * service knows no such user.
 * @param allowedOrigins where the link may point; empty = any https origin
 * @throws GatewayError UPSTREAM_REJECTED (demographics missing, or another fault), PORTAL_URL_REFUSED
 */
export async function createPortalUrl(
  service: Service,
  request: PortalUrlRequest,
  allowedOrigins: readonly string[],
): Promise<PortalUrl | null> {
  const portalUrl = await service.write({
    operation: 'portal.create-url',
    method: 'POST',
    path: `/v2/user/${encodeURIComponent(request.userId)}/create_portal_url`,
    body: toRequestBody({ context: request.context, orderId: request.orderId }),
    reader: readPortalUrl,
    owner: 'anyone',
    scope: 'launch:portal',
    about: { userId: request.userId, orderId: request.orderId },
  });
  if (portalUrl !== null && !isAllowed(portalUrl.url, allowedOrigins)) {
    throw new GatewayError(
      'PORTAL_URL_REFUSED',
      'The portal link points to an origin that PORTAL_ORIGINS does not list.',
      { mayBeDone: true },
    );
  }
  return portalUrl;
}

function readPortalUrl(json: unknown): PortalUrl {
  const link = readLink(json);
  if (link !== null) return link;
  throw new GatewayError('UPSTREAM_UNREADABLE', 'The service answered without a portal link.');
}

function isAllowed(text: string, allowedOrigins: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return false;
  return allowedOrigins.length === 0 ? url.protocol === 'https:' : allowedOrigins.includes(url.origin);
}
