import type { Authenticate, Credentials } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { Allowances } from './rate-limits.ts';

export interface Gate {
  readonly authenticate: Authenticate;
  readonly allowances: Allowances;
}

/**
 * Tells who asks and takes a point, before a byte of the request is read: what is malformed costs as much as what is not.
 * @throws GatewayError UNAUTHENTICATED, RATE_LIMITED
 */
export async function admit(gate: Gate, credentials: Credentials): Promise<Caller> {
  const caller = await gate.authenticate(credentials);
  await gate.allowances.pay(caller, 1);
  return caller;
}

/** By node:http's request: whom one lane has let in, the other does not charge again. */
const admitted = new WeakMap<object, Caller>();

/** Notes that this request has been let in and has paid. */
export function noteAdmitted(request: object, caller: Caller): void {
  admitted.set(request, caller);
}

/** Whom the request behind a connection of Hono's is from, where it has been let in already. */
export function takeAdmitted(connection: unknown): Caller | null {
  if (typeof connection !== 'object' || connection === null || !('incoming' in connection)) return null;
  const { incoming } = connection;
  return typeof incoming === 'object' && incoming !== null ? (admitted.get(incoming) ?? null) : null;
}
