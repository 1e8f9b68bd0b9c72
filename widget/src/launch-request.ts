import { readPortalUrl } from './addresses.ts';
import type { PortalClient } from './client.ts';
import { PortalError, type PortalErrorCode } from './errors.ts';
import { readFields, readText } from './fields.ts';
import { CREATE_LAUNCH_TICKET, CREATE_PORTAL_URL } from './operations.ts';

/** What is asked for. `origins` are those the portal's address may have, separated by spaces. */
export interface LaunchWish {
  readonly orderId: string | null;
  readonly isPost: boolean;
  readonly origins: string | null;
}

/** The way to the portal: its address, or with a ticket the gateway's, which sends on. A secret, once and for seconds. */
export interface LaunchWay {
  readonly url: string;
  readonly ticket: string | null;
}

/** What each refusal means; a type this widget does not know is GATEWAY_ERROR. */
const REFUSALS: Readonly<Record<string, PortalErrorCode>> = {
  PortalUrlRejected: 'PORTAL_REJECTED',
  FeatureNotEnabled: 'FEATURE_NOT_ENABLED',
  NotFound: 'NOT_FOUND',
  InputRejected: 'INPUT_REJECTED',
};

/**
 * Asks the gateway for the way to the portal.
 * @throws PortalError; URL_REJECTED unless the address is https and of an allowed origin
 */
export async function askForWay(
  client: PortalClient,
  { orderId, isPost, origins }: LaunchWish,
  signal: AbortSignal,
): Promise<LaunchWay> {
  const query = isPost ? CREATE_LAUNCH_TICKET : CREATE_PORTAL_URL;
  const { launch } = await client.execute(
    { query, variables: { orderId }, scope: 'launch', orderId },
    signal,
  );
  const { __typename, url, ticket, demographicsMissing } = readFields(launch);
  if (__typename === 'LaunchTicket') return { url: toLaunchAddress(client), ticket: readText(ticket) };
  if (__typename === 'PortalUrl' && !isPost) return { url: readPortalUrl(url, origins), ticket: null };
  if (demographicsMissing === true) throw new PortalError('DEMOGRAPHICS_MISSING');
  throw new PortalError(REFUSALS[String(__typename)] ?? 'GATEWAY_ERROR');
}

function toLaunchAddress({ endpoint }: PortalClient): string {
  return new URL('/launch', endpoint).href;
}
