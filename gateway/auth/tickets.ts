import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { OneTimeValues } from '../events/log.ts';
import { parseInstant } from '../parse/dates.ts';
import type { Caller, UserCaller } from './rights.ts';

/** Tickets of one kind. */
export interface Tickets<Grant> {
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly issue: (grant: Grant) => Promise<{ readonly ticket: string; readonly expiresAt: Date }>;
  /**
   * The grant of the ticket, once; null when it was redeemed, has expired or is unknown.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly redeem: (ticket: string) => Promise<Grant | null>;
}

/** Whether the viewer token behind a ticket was revoked: the ticket is then refused. */
type IsRevoked = (caller: UserCaller) => boolean;

const time = z.string().transform(parseInstant).pipe(z.date());
const callerShape: z.ZodType<Caller> = z.discriminatedUnion('kind', [
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
    keyId: z.string().exactOptional(),
  }),
]);
/** The document that a ticket is for. It is fetched with the rights of the caller who requested the ticket. */
const documentShape = z.object({
  caller: callerShape,
  orderId: z.string(),
  /** The user of the order when the ticket was issued. */
  userId: z.string(),
  kind: z.enum(['RESULT', 'REQUISITION']),
});
/** The launch into the portal that a ticket is for. The link is requested with the rights of the caller of the ticket. */
const launchShape = z.object({
  caller: callerShape,
  userId: z.string(),
  /** Null for the portal's start. */
  orderId: z.string().nullable(),
  /** The origin of the requesting page. Only a form of that page can redeem the ticket. */
  origin: z.string(),
});
export type DocumentTickets = Tickets<z.infer<typeof documentShape>>;
export type LaunchTickets = Tickets<z.infer<typeof launchShape>>;

/** Tickets for one fetch of one document, valid for 60 s. */
export function createDocumentTickets(values: OneTimeValues, isRevoked: IsRevoked): DocumentTickets {
  return createTickets(values, { name: 'document', ttlMs: 60_000, shape: documentShape, isRevoked });
}

/** Tickets for one launch into the portal, valid for 30 s. */
export function createLaunchTickets(values: OneTimeValues, isRevoked: IsRevoked): LaunchTickets {
  return createTickets(values, { name: 'launch', ttlMs: 30_000, shape: launchShape, isRevoked });
}

interface TicketKind<Grant> {
  readonly name: string;
  readonly ttlMs: number;
  readonly shape: z.ZodType<Grant>;
  readonly isRevoked: IsRevoked;
}

/**
 * A ticket is 256 random bits for one use. It expires with the viewer token behind it at the latest. The grant is
 * stored beside the event log under the ticket's hash, so nobody can redeem a ticket with the stored data. Every
 * gateway over the log accepts the ticket. A ticket of one kind is not valid for another kind.
 */
function createTickets<Grant extends { readonly caller: Caller }>(
  values: OneTimeValues,
  { name, ttlMs, shape, isRevoked }: TicketKind<Grant>,
): Tickets<Grant> {
  const keyOf = (ticket: string) => `${name} ${createHash('sha256').update(ticket).digest('base64url')}`;
  return {
    issue: async (grant) => {
      const ticket = randomBytes(32).toString('base64url');
      const tokenEnds = grant.caller.kind === 'USER' ? grant.caller.expiresAt.getTime() : Infinity;
      const expiresAt = new Date(Math.min(Date.now() + ttlMs, tokenEnds));
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
