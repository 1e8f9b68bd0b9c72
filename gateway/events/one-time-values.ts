/**
 * Small things that wait beside the event log, as durable, until somebody comes for them: what stands behind
 * single-use tickets. Every gateway over one log has the same values.
 */
export interface OneTimeValues {
  /**
   * Keeps a value, sealed like a body, until it is taken or its time is over. A key is used once.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
   */
  readonly put: (key: string, value: unknown, until: Date) => Promise<void>;
  /**
   * The value, to the first who asks in time; null to everybody else, and for a key that was never used. That it
   * was taken is durable when this resolves.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE: it may have been taken all the same
   */
  readonly take: (key: string) => Promise<unknown>;
}
