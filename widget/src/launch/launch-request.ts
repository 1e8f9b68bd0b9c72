import type { PortalClient } from '../client/client.ts';
import { readPortalUrl } from '../gateway/addresses.ts';
import { PortalError } from '../gateway/errors.ts';
import { type Fields, readFields, readText } from '../gateway/fields.ts';
import { toErrorCode } from '../gateway/gateway-error.ts';
import { CREATE_LAUNCH_TICKET, CREATE_PORTAL_URL } from '../gateway/operations.ts';

/** `origins` are the allowed origins of the portal's address, separated by spaces. */
export interface LaunchOptions {
  readonly orderId: string | null;
  readonly isPost: boolean;
  readonly origins: string | null;
}

/** The portal's address, or a ticket and the gateway's address, which redirects. A secret for one use within seconds. */
export interface LaunchTarget {
  readonly url: string;
  readonly ticket: string | null;
}

/**
 * Asks the gateway for the address of the portal.
 * @throws PortalError; URL_REJECTED unless the address is https and of an allowed origin
 */
export function requestLaunch(
  client: PortalClient,
  { orderId, isPost, origins }: LaunchOptions,
  signal: AbortSignal,
): Promise<LaunchTarget> {
  const query = isPost ? CREATE_LAUNCH_TICKET : CREATE_PORTAL_URL;
  const read = ({ launch }: Fields): LaunchTarget => {
    const { __typename, url, ticket, demographicsMissing } = readFields(launch);
    if (__typename === 'LaunchTicket')
      return { url: new URL('launch', client.endpoint).href, ticket: readText(ticket) };
    if (__typename === 'PortalUrl' && !isPost) return { url: readPortalUrl(url, origins), ticket: null };
    if (demographicsMissing === true) throw new PortalError('DEMOGRAPHICS_MISSING');
    throw new PortalError(toErrorCode(__typename));
  };
  // A template without an order may leave the attribute empty.
  return client.execute(
    { query, variables: { orderId: orderId || null }, scope: 'launch', orderId, read },
    signal,
  );
}
