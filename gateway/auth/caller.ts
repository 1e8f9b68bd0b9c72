/** Who is asking: a server of the team, or one user's browser. */
export type Caller = TeamCaller | UserCaller;

/** A server-side caller with a gateway key: sees everything the team sees. */
export interface TeamCaller {
  readonly kind: 'TEAM';
  /**
   * Names its gateway key in logs, the audit trail and rate limits, and is of no use to anybody; none
   * for the gateway itself.
   */
  readonly keyName?: string;
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
}
