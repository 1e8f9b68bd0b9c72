import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { EventLog, NewMessage } from '../../../gateway/events/log.ts';
import { newMessage } from '../../support/messages.ts';
import { runs } from '../../support/runs.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

/** A message as the sender may bring it: any version, late, lost before it or repeated, of either user. */
const arbitraryMessage = fc.record({
  subject: fc.constantFrom('order-1', 'order-2', 'order-3'),
  version: fc.integer({ min: 1, max: 12 }),
  userId: fc.constantFrom('user-1', 'user-2'),
  origin: fc.constantFrom('webhook' as const, 'webhook' as const, 'reconciled' as const),
  repeats: fc.integer({ min: 0, max: 2 }),
});
type ArbitraryMessage = typeof arbitraryMessage extends fc.Arbitrary<infer T> ? T : never;

function toMessage({ subject, version, userId, origin }: ArbitraryMessage, index: number): NewMessage {
  return newMessage(`m-${index}`, { subject: { id: subject, version }, userId, origin });
}

/** What the log must show as changes, worked out in the plainest way. */
function modelOf(messages: readonly NewMessage[]) {
  const latest = new Map<string, { version: number; userId: string | null }>();
  const changes: string[] = [];
  for (const { messageId, subject, userId, origin } of messages) {
    if (subject === null) continue;
    const known = latest.get(subject.id);
    const isNewer = known === undefined || subject.version > known.version;
    const hasMoved = origin === 'reconciled' && subject.version === known?.version && userId !== known.userId;
    if (!isNewer && !hasMoved) continue;
    latest.set(subject.id, { version: subject.version, userId });
    changes.push(messageId);
  }
  return { latest, changes };
}

async function readAll(log: EventLog, after: number, limit: number) {
  const events: { readonly id: string; readonly position: number }[] = [];
  let from = after;
  for (;;) {
    const batch = await log.read({ changesOnly: true }, from, limit);
    if (batch.kind === 'gap') throw new Error(batch.reason);
    events.push(...batch.events.map(({ messageId, position }) => ({ id: messageId, position })));
    if (batch.through >= (await log.position())) return events;
    from = batch.through;
  }
}

describe.each(stores)('the projection of $name', ({ open }) => {
  test('is the highest version of each subject, even when messages come late, twice or never', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryMessage, { maxLength: 20 }), async (items) => {
        await using store = await open();
        const messages = items.map(toMessage);
        for (const [index, message] of messages.entries()) {
          await store.log.append(message);
          for (let again = 0; again < (items[index]?.repeats ?? 0); again += 1) {
            await store.log.append(messages[Math.floor(index / (again + 1))] ?? message);
          }
        }
        const { latest, changes } = modelOf(messages);
        for (const [subject, known] of latest) expect(await store.log.latest(subject)).toMatchObject(known);
        expect((await readAll(store.log, 0, 100)).map(({ id }) => id)).toEqual(changes);
      }),
      { numRuns: runs(25) },
    );
  });

  test('a reader that is cut anywhere and comes back with its place has seen each change once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryMessage, { minLength: 1, maxLength: 20 }),
        fc.array(fc.tuple(fc.nat(25), fc.integer({ min: 1, max: 5 })), { maxLength: 6 }),
        async (items, cuts) => {
          await using store = await open();
          const messages = items.map(toMessage);
          const seen: string[] = [];
          let [place, appended] = [0, 0];
          const appendUpTo = async (count: number) => {
            for (const message of messages.slice(appended, count)) await store.log.append(message);
            appended = Math.max(appended, Math.min(count, messages.length));
          };
          for (const [upTo, limit] of [...cuts.toSorted(([one], [two]) => one - two), [25, 100] as const]) {
            await appendUpTo(upTo);
            // Leaves in the middle of what there is: only a part of it was taken.
            const there = await readAll(store.log, place, limit);
            const taken = upTo === 25 ? there : there.slice(0, limit);
            seen.push(...taken.map(({ id }) => id));
            place = taken.at(-1)?.position ?? place;
          }
          expect(seen).toEqual(modelOf(messages).changes);
        },
      ),
      { numRuns: runs(25) },
    );
  });
});
