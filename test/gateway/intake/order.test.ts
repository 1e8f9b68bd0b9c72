import { expect, test } from 'vitest';
import { versionOfOrder } from '../../../gateway/domain/order/read/rest-order.ts';
import { GatewayError } from '../../../gateway/errors.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { type Broker, Intake, type Take } from '../../../gateway/intake/intake.ts';
import { createLog } from '../../../gateway/log.ts';
import { createReceiver } from '../../../gateway/webhooks/receiver.ts';
import { withLog } from '../../support/replaced-parts.ts';
import { orderEvent, teamId } from '../webhooks/support.ts';

const encoded = (body: string) => ({ contentType: 'application/json', body: Buffer.from(body) });
const event = (number: number, team = teamId) =>
  orderEvent({ event_type: 'any.type', data: { number }, team_id: team });

test('messages in hand go back behind one that could not be stored, and all come again in their order', async () => {
  const log = createLog({ level: 'silent' });
  const full = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The disk is full.');
  let isFull = true;
  const store = withLog(await openEventStore({ kind: 'memory' }, { keys: [], log }), (inner) => ({
    append: async (message) => {
      if (!isFull) return await inner.append(message);
      isFull = false;
      throw full;
    },
  }));
  // The team of the second message is being learned while the first one fails.
  const learned = Promise.withResolvers<string>();
  const receive = createReceiver({
    events: store.log,
    log,
    subjectOf: versionOfOrder,
    teamId: (from) => (from === 'earlier' ? Promise.resolve(teamId) : learned.promise),
  });
  const takes: Take[] = [];
  const consuming = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const broker: Broker = {
    consume: (take) => {
      takes.push(take);
      consuming[takes.length - 1]?.resolve();
      return { isConsuming: true, stop: async () => {} };
    },
    close: async () => {},
  };
  const onOutcome = (outcome: string) => {
    if (outcome === 'unavailable') learned.resolve(teamId);
  };
  const options = { receive, isLogWritable: async () => true, onOutcome, log };
  const intake = new Intake(broker, options);
  await using _closing = {
    [Symbol.asyncDispose]: async () => {
      await intake.close();
      await store.log.close();
    },
  };
  const bodies = [event(1), event(2, crypto.randomUUID()), event(3)];

  const taken = Promise.all(bodies.map((body) => takes[0]?.(encoded(body))));

  expect(await taken).toEqual([false, false, false]);
  await consuming[1]?.promise;
  expect(await Promise.all(bodies.map((body) => takes[1]?.(encoded(body))))).toEqual([true, true, true]);
  const batch = await store.log.read({}, 0, 10);
  expect(batch.kind === 'events' && batch.events.map(({ body }) => body.toString())).toEqual([
    bodies[0],
    bodies[2],
  ]);
});
