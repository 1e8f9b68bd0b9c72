import { expect } from 'vitest';
import { gatewayKey, graphqlRequest } from './lab.ts';

/** The page that most tests launch from. */
export const pageOrigin = 'https://page.example';

const createTicket = `mutation ($input: CreateLaunchTicketInput!) { createLaunchTicket(input: $input) {
  __typename
  ... on LaunchTicket { ticket expiresAt }
  ... on PortalUrlRejected { demographicsMissing issues { path message } }
  ... on UserError { code message }
} }`;

/** A lab, or another gateway. */
interface Answering {
  readonly gateway: { readonly fetch: (request: Request) => Promise<Response> };
  readonly url: string;
}

export interface TicketAsked {
  readonly token?: string;
  /** Null: the request says none. */
  readonly origin?: string | null;
  readonly userId?: string | undefined;
  readonly orderId?: string | null | undefined;
}

/** The result of a page's request for a launch ticket, or the whole answer without one. */
export async function askForTicket({ gateway, url }: Answering, asked: TicketAsked) {
  const { token = gatewayKey, origin = pageOrigin, ...input } = asked;
  const request = graphqlRequest(url, { query: createTicket, variables: { input } }, token);
  if (origin !== null) request.headers.set('origin', origin);
  const answer = await (await gateway.fetch(request)).json();
  return answer.data?.createLaunchTicket ?? answer;
}

/** A launch ticket; fails the test where none is given. */
export async function takeTicket(to: Answering, asked: TicketAsked): Promise<string> {
  const result = await askForTicket(to, asked);
  expect(result.__typename).toBe('LaunchTicket');
  return result.ticket;
}

export interface Posted {
  readonly origin?: string | null;
  /** The whole body; else the form with the ticket. */
  readonly body?: string;
  readonly contentType?: string;
}

/** Posts a ticket as the form of a page does. */
export function postTicket({ gateway, url }: Answering, ticket: string, posted: Posted = {}) {
  const { origin = pageOrigin, contentType = 'application/x-www-form-urlencoded' } = posted;
  const headers = new Headers({ 'content-type': contentType });
  if (origin !== null) headers.set('origin', origin);
  const body = posted.body ?? new URLSearchParams({ ticket }).toString();
  return gateway.fetch(new Request(`${url}/launch`, { method: 'POST', headers, body }));
}
