import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { emptyState, type WorldState } from './world/state.ts';

// The file is our own: the shape of its top level is enough to recognise a damaged or a foreign one.
const stateShape = z.looseObject({
  version: z.literal(1),
  seed: z.number(),
  users: z.array(z.looseObject({ id: z.string() })),
  orders: z.array(z.looseObject({ id: z.string(), events: z.array(z.looseObject({})).min(1) })),
  portalLinks: z.array(z.looseObject({ path: z.string() })),
  outbox: z.array(z.looseObject({ messageId: z.string(), body: z.string() })),
  counters: z.object({ events: z.number(), orders: z.number(), messages: z.number() }),
});

/**
 * The state in the file, or null where there is no file yet.
 * @throws an error that names the file when it is damaged.
 */
export function readState(path: string): WorldState | null {
  if (!existsSync(path)) return null;
  try {
    const state: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const empty = emptyState(stateShape.parse(state).seed);
    // Files of earlier versions have no lab reports, no appointments, no idempotency records and no management.
    const stored = { ...empty, ...(state as WorldState) };
    return { ...stored, management: { ...empty.management, ...stored.management } };
  } catch (cause) {
    throw new Error(`The sandbox's state file ${path} is damaged. Delete it to start with a new world.`, {
      cause,
    });
  }
}

/** Asks for the state to be stored; settles when a write that began after the call is done. */
export type Save = () => Promise<void>;

/**
 * Stores the state in a file that is replaced as a whole, so that a reader after a kill or a loss of power finds the old or
 * the new state, never a half. Changes of one tick share one write.
 */
export function createSave(path: string, state: WorldState): Save {
  let next: Promise<void> | null = null;
  // A folder that cannot be made is reported by the first write into it.
  let last: Promise<unknown> = mkdir(dirname(path), { recursive: true }).catch(() => undefined);

  async function write(): Promise<void> {
    const draft = `${path}.${process.pid}.tmp`;
    await writeFile(draft, JSON.stringify(state), { mode: 0o600, flush: true });
    await rename(draft, path);
  }

  return () => {
    if (next) return next;
    const mine = last
      .then(() => setImmediate())
      .then(() => {
        next = null;
        return write();
      });
    next = mine;
    last = mine.catch(() => undefined);
    return mine;
  };
}
