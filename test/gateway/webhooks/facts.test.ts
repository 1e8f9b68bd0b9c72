import { expect, test } from 'vitest';
import type { FactsOf } from '../../../gateway/webhooks/envelope.ts';
import { openEndpoint, orderEvent, userId } from './support.ts';

const factsOf: FactsOf = (eventType, payload) => [
  { kind: 'seen', key: eventType, at: null, value: payload },
  { kind: 'seen', key: 'dated', at: new Date(5), value: { n: 1 } },
];

const event = (more = {}) => orderEvent({ event_type: 'any.type', data: { a: 1 }, ...more });
const seen = { userId, kind: 'seen' };

test('the facts of an event are stored with it, at its own time or at that of the receipt', async () => {
  await using endpoint = await openEndpoint({ factsOf });
  expect(await endpoint.deliver(event())).toBe(202);
  expect(await endpoint.deliver(event())).toBe(200);
  const [received] = await endpoint.delivered();
  expect(await endpoint.events.facts(seen, 10)).toMatchObject([
    { at: received?.receivedAt, value: Buffer.from('{"a":1}') },
    { at: new Date(5), value: Buffer.from('{"n":1}') },
  ]);
});

test('events about nobody, of another team, or that cannot be read state nothing', async () => {
  await using endpoint = await openEndpoint({ factsOf });
  await endpoint.deliver(event({ user_id: null }), { id: 'msg_1' });
  await endpoint.deliver(event({ team_id: crypto.randomUUID() }), { id: 'msg_2' });
  await endpoint.deliver('{', { id: 'msg_3' });
  expect(await endpoint.events.facts(seen, 10)).toEqual([]);
});
