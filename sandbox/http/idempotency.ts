import type { Context } from 'hono';
import type { SandboxEnv } from '../service.ts';
import type { World } from '../world/world.ts';
import { Refusal, refuse } from './refusal.ts';

/** The time for which a first answer is replayed (public service: at least 24 hours). */
const recordTtlMs = 24 * 60 * 60 * 1000;

/** Keys whose first request is still running, by world. */
const running = new WeakMap<World, Set<string>>();

type Work = () => Promise<unknown>;

/**
 * Does the work once per `X-Idempotency-Key` and replays its status and body, refusals included unless
 * `X-Idempotency-Error: no-cache` is sent. Failed validations are not stored (public service: idempotency).
 * @throws Refusal as the work does; 409 while a request with the same key is running
 */
export async function oncePerKey(c: Context<SandboxEnv>, world: World, work: Work): Promise<unknown> {
  const key = c.req.header('x-idempotency-key');
  if (key === undefined) return work();
  const stored = world.state.replies.find(
    (record) => record.key === key && Date.now() - record.at < recordTtlMs,
  );
  if (stored?.status === 200) return stored.body;
  if (stored) throw new Refusal(stored.status, stored.body);

  const keys = running.get(world) ?? new Set();
  running.set(world, keys);
  if (keys.has(key)) throw refuse(409, 'A request with this idempotency key is still running.');
  keys.add(key);
  const storesErrors = c.req.header('x-idempotency-error') !== 'no-cache';
  try {
    const body = await work();
    world.state.replies.push({ key, at: Date.now(), status: 200, body });
    return body;
  } catch (error) {
    if (storesErrors && error instanceof Refusal && error.status !== 422) {
      world.state.replies.push({ key, at: Date.now(), status: error.status, body: error.body });
    }
    throw error;
  } finally {
    keys.delete(key);
  }
}
