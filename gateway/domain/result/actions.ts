import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  withReason,
} from '../../graph/user-error.ts';
import { getOrder } from '../order/read/rest.ts';
import { type DocumentKind, openDocument, scopeOfDocument } from './rest.ts';

export interface DocumentTicket {
  readonly kind: 'DocumentTicket';
  /** A path on this gateway. */
  readonly url: string;
  readonly expiresAt: Date;
}

export interface DocumentNotReady extends UserError {
  readonly kind: 'DocumentNotReady';
}

export type CreateDocumentTicketResult = DocumentTicket | DocumentNotReady | NotFound | FeatureNotEnabled;

export interface DocumentRequest {
  readonly orderId: string;
  readonly kind: DocumentKind;
}

/**
 * Makes a ticket for one fetch of a document of an order. The document is requested now and its transfer is cancelled
 * at once, because no other read shows whether it exists (some labs have no file for partial results).
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function requestDocumentTicket(
  { service, caller, documentTickets }: GraphContext,
  { orderId, kind }: DocumentRequest,
): Promise<CreateDocumentTicketResult> {
  service.rights.require(scopeOfDocument(kind));
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const file = await openDocument(service, order, kind);
    if (file === null) return notReady();
    file.cancel();
  } catch (error) {
    const refusal = toRefusal(error);
    return refusal.kind === 'FeatureNotEnabled' ? refusal : notReady(error);
  }
  const { ticket, expiresAt } = await documentTickets.issue({ caller, orderId, userId: order.userId, kind });
  return { kind: 'DocumentTicket', url: `/documents/${ticket}`, expiresAt };
}

/** @param error the service's refusal, where it gave one */
function notReady(error?: unknown): DocumentNotReady {
  return {
    kind: 'DocumentNotReady',
    code: 'DOCUMENT_NOT_READY',
    message: withReason('The service does not have this document yet.', error),
  };
}

/**
 * The document that a ticket was made for, or null when it is gone. The order is read once more, with the rights of
 * the ticket's caller: it may have moved to another user meanwhile.
 * @throws GatewayError UPSTREAM_*
 */
export async function fetchDocument(
  service: GraphContext['service'],
  granted: DocumentRequest & { readonly userId: string },
) {
  const order = await getOrder(service, granted.orderId);
  if (order === null || order.userId !== granted.userId) return null;
  return await openDocument(service, order, granted.kind);
}
