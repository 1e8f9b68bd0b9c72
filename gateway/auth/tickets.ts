import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { OneTimeValues } from '../events/one-time-values.ts';
import { parseInstant } from '../parse/dates.ts';
import type { Caller, UserCaller } from './rights.ts';

/** A document that a ticket lets somebody fetch. */
export interface DocumentGrant {
  /** Who asked for the ticket: the document is fetched with this caller's rights, and no others. */
  readonly caller: Caller;
  readonly orderId: string;
  /** Whose order it was when the ticket was made. */
  readonly userId: string;
  readonly kind: DocumentKind;
}

export type DocumentKind = 'RESULT' | 'REQUISITION';

/** The launch into the portal that a ticket is for. */
export interface LaunchGrant {
  /** Who asked for the ticket: the portal link is asked for with this caller's rights, and no others. */
  readonly caller: Caller;
  readonly userId: string;
  /** Null for the portal's start. */
  readonly orderId: string | null;
  /** Of the page that asked; only a form of that page spends the ticket. */
  readonly origin: string;
}

/** Tickets of one kind. */
export interface Tickets<Grant> {
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly issue: (grant: Grant) => Promise<{ readonly ticket: string; readonly expiresAt: Date }>;
  /**
   * What the ticket is for, once; null ever after, when it has ended, and for anything that is no ticket.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly redeem: (ticket: string) => Promise<Grant | null>;
}

/** Whether the viewer token behind a ticket was revoked: the ticket then opens nothing more. */
type IsRevoked = (caller: UserCaller) => boolean;

export type DocumentTickets = Tickets<DocumentGrant>;
export type LaunchTickets = Tickets<LaunchGrant>;

const time = z.string().transform(parseInstant).pipe(z.date());
const callerShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('TEAM'), keyName: z.string().exactOptional() }),
  z.object({
    kind: z.literal('USER'),
    userId: z.string(),
    orderIds: z.array(z.string()).nullable(),
    scopes: z.array(z.string()),
    issuedAt: time,
    expiresAt: time,
    origins: z.array(z.string()).nullable(),
    tokenId: z.string().nullable(),
  }),
]);
const documentShape = z.object({
  caller: callerShape,
  orderId: z.string(),
  userId: z.string(),
  kind: z.enum(['RESULT', 'REQUISITION']),
});
const launchShape = z.object({
  caller: callerShape,
  userId: z.string(),
  orderId: z.string().nullable(),
  origin: z.string(),
});

/** Tickets for one fetch of one document: they live for 60 s. */
export function createDocumentTickets(values: OneTimeValues, isRevoked: IsRevoked): DocumentTickets {
  return createTickets<DocumentGrant>(values, {
    name: 'document',
    lifeMs: 60_000,
    shape: documentShape,
    isRevoked,
  });
}

/** Tickets for one launch into the portal: they live for 30 s. */
export function createLaunchTickets(values: OneTimeValues, isRevoked: IsRevoked): LaunchTickets {
  return createTickets<LaunchGrant>(values, {
    name: 'launch',
    lifeMs: 30_000,
    shape: launchShape,
    isRevoked,
  });
}

interface TicketKind<Grant> {
  readonly name: string;
  readonly lifeMs: number;
  readonly shape: z.ZodType<Grant>;
  readonly isRevoked: IsRevoked;
}

/**
 * 256 random bits, single use, never longer alive than the viewer token behind them. What a ticket is for waits
 * beside the event log under the ticket's hash: nothing that is written down opens one, every gateway over one log
 * honours it, and a ticket of one kind is none of another.
 */
function createTickets<Grant extends { readonly caller: Caller }>(
  values: OneTimeValues,
  { name, lifeMs, shape, isRevoked }: TicketKind<Grant>,
): Tickets<Grant> {
  const keyOf = (ticket: string) => `${name} ${createHash('sha256').update(ticket).digest('base64url')}`;
  return {
    issue: async (grant) => {
      const ticket = randomBytes(32).toString('base64url');
      const tokenEnds = grant.caller.kind === 'USER' ? grant.caller.expiresAt.getTime() : Infinity;
      const expiresAt = new Date(Math.min(Date.now() + lifeMs, tokenEnds));
      await values.put(keyOf(ticket), grant, expiresAt);
      return { ticket, expiresAt };
    },
    redeem: async (ticket) => {
      // A value that another version of the gateway stored in another shape is no grant.
      const grant = shape.safeParse(await values.take(keyOf(ticket))).data ?? null;
      const isOver = grant?.caller.kind === 'USER' && isRevoked(grant.caller);
      return isOver ? null : grant;
    },
  };
}
