import { expect, test } from 'vitest';
import { readers } from '../../../gateway/composition/webhook-readers.ts';
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

const glucose = (source: unknown, samples: number, more = {}) =>
  orderEvent({
    event_type: 'daily.data.glucose.created',
    data: {
      source,
      data: Array.from({ length: samples }, (_, index) => ({
        timestamp: new Date(index * 60_000).toISOString(),
        value: 5.5,
        ...more,
      })),
    },
  });

test('a source is stored with each sample as far as it is shown, however much the sender wrote into it', async () => {
  await using endpoint = await openEndpoint(readers);
  const long = 'x'.repeat(50_000);
  const source = { name: 'Abbott', slug: 'freestyle_libre', type: 'cgm', device_id: long, note: long };
  const body = glucose(source, 1000);

  expect(await endpoint.deliver(body)).toBe(202);

  const facts = await endpoint.events.facts({ userId, kind: 'sample:glucose' }, 2000);
  expect(facts).toHaveLength(1000);
  expect(JSON.parse(facts[0]?.value.toString() ?? '')).toEqual({
    source: { name: 'Abbott', slug: 'freestyle_libre', type: 'cgm' },
    source_id: null,
    sample: { timestamp: new Date(999 * 60_000).toISOString(), value: 5.5 },
  });
});

test('facts of more than 16 times the body are left out and counted, the event is not', async () => {
  const durable: unknown[] = [];
  const large: FactsOf = () =>
    Array.from({ length: 100 }, (_, index) => ({
      kind: 'seen',
      key: String(index),
      at: null,
      value: 'x'.repeat(10_000),
    }));
  await using endpoint = await openEndpoint({
    factsOf: large,
    onDurable: ({ factsLeftOut }) => durable.push(factsLeftOut),
  });

  const small = event();
  const larger = event({ data: 'y'.repeat(20_000) });
  expect(await endpoint.deliver(small, { id: 'msg_1' })).toBe(202);
  expect(await endpoint.events.facts(seen, 200)).toHaveLength(6);
  expect(await endpoint.deliver(larger, { id: 'msg_2' })).toBe(202);
  expect(await endpoint.events.facts(seen, 200)).toHaveLength(38);

  expect(durable).toEqual([94, 62]);
  expect(await endpoint.delivered()).toHaveLength(2);
});
