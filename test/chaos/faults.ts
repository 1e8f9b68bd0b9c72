import { randomUUID } from 'node:crypto';
import type { EventLog, Scope } from '../../gateway/events/log.ts';
import type { EventStore } from '../../gateway/events/open.ts';
import { withLog } from '../support/replaced-parts.ts';

/** Functions that plant a fault in a store, by the name of the fault. */
export const faults: Readonly<Record<string, (store: EventStore) => EventStore>> = {
  'acknowledges before the commit': (store) =>
    withLog(store, (log) => ({
      append: async (message) => {
        log.append(message).catch(() => undefined);
        return { position: 0, duplicate: false, altered: false };
      },
    })),
  'stores a message again each time it comes': (store) =>
    withLog(store, (log) => ({
      append: (message) => log.append({ ...message, messageId: `${message.messageId} ${randomUUID()}` }),
    })),
  'does not filter by user': (store) => withLog(store, ofEverybody),
  'waits without looking at the position': (store) =>
    withLog(store, (log) => ({
      wake: async (scope, after, signal) => {
        await log.wake(scope, Number.POSITIVE_INFINITY, signal);
        return after;
      },
    })),
  // A stream asks for the newest webhook of each order of its snapshot, to know which ones the snapshot has shown.
  'repeats the changes that its snapshot showed': (store) =>
    withLog(store, (log) => ({
      latestOf: async (orderIds, since) => {
        const newest = await log.latestOf(orderIds, since);
        if (since !== undefined) return newest;
        return newest.map((latest) => ({
          userId: null,
          ...latest,
          version: Number.MAX_SAFE_INTEGER,
          position: 0,
        }));
      },
    })),
  'repeats what came while its snapshot was read': (store) =>
    withLog(store, (log) => ({
      latestOf: async (orderIds, since) => {
        const newest = await log.latestOf(orderIds, since);
        return since === undefined ? newest.map((latest) => latest && { ...latest, position: 0 }) : newest;
      },
    })),
  'resumes one place too early': (store) => ({
    ...store,
    cursors: {
      ...store.cursors,
      read: (scope, cursor) => {
        const place = store.cursors.read(scope, cursor);
        return place === 'other-epoch' ? place : { ...place, position: place.position - 1 };
      },
    },
  }),
};

/** Reads changes of all users' orders, in place of one user's. */
export function ofEverybody(log: EventLog): Partial<EventLog> {
  const widen = (scope: Scope): Scope => {
    const { userId: _, ...rest } = scope;
    return scope.changesOnly === true ? rest : scope;
  };
  return {
    read: (scope, after, limit) => log.read(widen(scope), after, limit),
    wake: (scope, after, signal) => log.wake(widen(scope), after, signal),
  };
}
