/**
 * Small values that are stored beside the event log, as durable, until they are taken: the content of single-use tickets.
 * All gateways over one log share them.
 */
export interface OneTimeValues {
  /**
   * Stores a value, sealed like a body, until it is taken or expires. A key is used once.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
   */
  readonly put: (key: string, value: unknown, until: Date) => Promise<void>;
  /**
   * Returns the value to the first caller before it expires; null to every other caller, and for an unknown key. When it
   * resolves it is durable that the value was taken.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE; the value may be taken nevertheless
   */
  readonly take: (key: string) => Promise<unknown>;
}
