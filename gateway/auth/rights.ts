import { GatewayError } from '../errors.ts';

/** What a viewer token can be allowed to do; a gateway key may do everything. */
export const scopes = [
  'read:orders',
  'read:profile',
  'read:health',
  'read:catalogue',
  'read:results',
  'launch:portal',
  'write:orders',
  'write:appointments',
  'simulate:orders',
  'write:profile',
  'write:lab-reports',
] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a token that names none: what the widget needs, status and launch. */
export const defaultScopes: readonly Scope[] = ['read:orders', 'launch:portal'];

/** Scopes for data of a whole user that belongs to no order. A token that is limited to some orders never has them. */
const userScopes: readonly Scope[] = ['read:profile', 'read:health', 'write:profile', 'write:lab-reports'];

/**
 * What an operation can require of its caller: a scope, a gateway key (no viewer token, whatever its scopes), or the
 * right to place orders (the scope `write:orders`, in a token that is not limited to some orders).
 */
export type Permission = Scope | 'gateway-key' | 'new-orders';

/** The owner of data: the user, and the order that it belongs to. */
export interface Owner {
  readonly userId: string | null;
  readonly orderId?: string | null;
  readonly teamId?: string | null;
}

/** The kind of an access in the audit trail, such as `read order.get` or `stream order.updates`. */
export type AccessKind = `${'read' | 'write' | 'file' | 'stream'} ${string}`;

/** One access in the audit trail: whose data was requested, and the outcome. It never contains a value. */
export interface Access {
  readonly kind: AccessKind | `scope ${Scope}`;
  /** The user whose data it is; null when unknown, for example for an order that does not exist. */
  readonly userId: string | null;
  /** `ok`, `refused` (not the caller's, or without the scope), `not-found`, else the code of the error. */
  readonly outcome: string;
}

export type OnAccess = (access: Access) => void;

/**
 * What one caller may see and do. Every check of a scope or an owner is a call of this class; refusals go to the audit
 * trail here. Denies by default.
 */
export class Rights {
  /** For limits and keys. An answer that shows more of its credential than whose it is must not be shared. */
  readonly caller: Caller;
  /** Reports to the audit trail; undefined for the gateway itself. */
  readonly onAccess: OnAccess | undefined;

  constructor(caller: Caller, onAccess?: OnAccess) {
    this.caller = caller;
    this.onAccess = onAccess;
  }

  /** Callers with equal keys own the same data. Their scopes may differ. */
  get key(): string {
    return keysOf(this.caller).owner;
  }

  /** The one user whose data the caller may see; null for a gateway key. */
  get userId(): string | null {
    return this.caller.kind === 'USER' ? this.caller.userId : null;
  }

  /** The only orders the caller may see; null for all orders of its user. */
  get orderIds(): readonly string[] | null {
    return this.caller.kind === 'USER' ? this.caller.orderIds : null;
  }

  get scopes(): readonly Scope[] {
    return scopes.filter((scope) => this.has(scope));
  }

  /** Whether the caller has the permission. Nothing is reported to the audit trail. */
  has(permission: Permission): boolean {
    if (permission === 'gateway-key') return this.caller.kind === 'TEAM';
    if (permission === 'new-orders') return hasScope(this.caller, 'write:orders') && this.orderIds === null;
    return hasScope(this.caller, permission);
  }

  /** @throws GatewayError FORBIDDEN where the caller lacks the permission */
  require(permission: Permission): void {
    if (this.has(permission)) return;
    if (permission === 'gateway-key') throw forbidden('This needs a gateway key.');
    if (permission === 'new-orders' && this.has('write:orders')) {
      throw forbidden('A token that is limited to some orders cannot place new ones.');
    }
    const scope = permission === 'new-orders' ? 'write:orders' : permission;
    this.onAccess?.({ kind: `scope ${scope}`, userId: this.userId, outcome: 'refused' });
    const unlimited = userScopes.includes(scope) ? ', not limited to some orders' : '';
    throw forbidden(`This needs a token with the scope ${scope}${unlimited}.`);
  }

  /**
   * Whether the caller may see the data of this owner.
   * @param kind reports a refusal to the audit trail under this name; without it nothing is reported
   */
  owns(owner: Owner, kind?: AccessKind): boolean {
    if (isOwner(this.caller, owner)) return true;
    if (kind !== undefined) this.onAccess?.({ kind, userId: owner.userId, outcome: 'refused' });
    return false;
  }

  /**
   * Like `owns`, for data that is shown without a call to the service: from the event log or a stored answer. Every
   * access is reported to the audit trail, allowed or not.
   */
  mayShow(owner: Owner, kind: AccessKind): boolean {
    const isOwn = this.owns(owner, kind);
    if (isOwn) this.onAccess?.({ kind, userId: owner.userId, outcome: 'ok' });
    return isOwn;
  }
}

function forbidden(message: string): GatewayError {
  return new GatewayError('FORBIDDEN', message);
}

function hasScope(caller: Caller, scope: Scope): boolean {
  if (caller.kind !== 'USER') return caller.kind === 'TEAM';
  return caller.scopes.includes(scope) && (caller.orderIds === null || !userScopes.includes(scope));
}

/**
 * A token that is limited to some orders also owns its user's data that belongs to no order; its scopes limit that. A
 * management key owns only what belongs to no user.
 */
function isOwner(caller: Caller, { userId, orderId }: Owner): boolean {
  if (caller.kind === 'TEAM') return true;
  if (caller.kind === 'MANAGEMENT') return userId === null;
  if (userId?.toLowerCase() !== caller.userId) return false;
  return caller.orderIds === null || !orderId || caller.orderIds.includes(orderId.toLowerCase());
}

interface Keys {
  readonly owner: string;
  readonly rights: string;
}

/** A caller is the same object from request to request (authenticate.ts), and each read asks for its key. */
const keys = new WeakMap<Caller, Keys>();

/** Callers with equal keys may see and do exactly the same, so they may share an answer. */
export function rightsKeyOf(caller: Caller): string {
  return keysOf(caller).rights;
}

function keysOf(caller: Caller): Keys {
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const owner = caller.kind === 'USER' ? ownerKeyOf(caller) : caller.kind.toLowerCase();
  const allowed = scopes.filter((scope) => hasScope(caller, scope));
  const made = { owner, rights: `${owner} ${allowed.join(',')}` };
  keys.set(caller, made);
  return made;
}

function ownerKeyOf({ userId, orderIds }: UserCaller): string {
  return `user:${userId}:${orderIds === null ? '*' : orderIds.toSorted().join(',')}`;
}

/** The sender of an operation: a server of the team, one user's browser, or a manager of the organization. */
export type Caller = TeamCaller | UserCaller | ManagementCaller;

/** A server-side caller with a gateway key: sees everything the team sees. */
export interface TeamCaller {
  readonly kind: 'TEAM';
  /**
   * The name of its gateway key in logs, the audit trail and rate limits; none for the gateway itself.
   */
  readonly keyName?: string;
}

/** A caller with a management key: sees the organization and its teams at `/management/graphql`, and no user's data. */
export interface ManagementCaller {
  readonly kind: 'MANAGEMENT';
  /** The name of its key in logs, the audit trail and rate limits. */
  readonly keyName: string;
}

/** A browser with a viewer token: sees one user, or only some of that user's orders. */
export interface UserCaller {
  readonly kind: 'USER';
  readonly userId: string;
  /** When set, only these orders of the user. */
  readonly orderIds: readonly string[] | null;
  readonly scopes: readonly string[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** When set, the token works only from these browser origins. */
  readonly origins: readonly string[] | null;
  /** The token's own id (`jti`), where it has one. */
  readonly tokenId: string | null;
  /** The gateway's own key that signed the token; none for a token of the identity provider. */
  readonly keyId?: string;
}
