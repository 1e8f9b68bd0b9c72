import { expect, test } from 'vitest';
import { versionOfOrder } from '../../../gateway/domain/order/read/rest-order.ts';
import { readEnvelope } from '../../../gateway/webhooks/envelope.ts';
import { orderEvent, orderId, teamId, userId } from '../webhooks/support.ts';

function digestOf(body: string, ownTeam: string | null = teamId) {
  const reading = { messageId: null, receivedAt: new Date(), body: Buffer.from(body) };
  const options = { subjectOf: versionOfOrder, teamId: ownTeam, comparesContent: true };
  return readEnvelope(reading, options).content?.digest;
}

const order = (more: object = {}) => ({
  data: {
    id: orderId,
    user_id: userId,
    team_id: teamId,
    status: 'received',
    events: [{ id: 7, status: 's' }],
    ...more,
  },
});
const sleep = (data: object) => orderEvent({ event_type: 'daily.data.sleep.created', data });

test('events are equal by user, type, order and version, whatever else their bodies contain', () => {
  const digest = digestOf(orderEvent(order()));
  expect(digestOf(orderEvent(order({ notes: 'other words' })))).toBe(digest);
  expect(digestOf(orderEvent(order({ id: orderId.toUpperCase() })))).toBe(digest);
  const others = [
    orderEvent(order({ events: [{ id: 8, status: 's' }] })),
    orderEvent(order({ id: userId })),
    orderEvent(order({ user_id: orderId })),
    orderEvent({ ...order(), event_type: 'labtest.order.created' }),
    orderEvent({ ...order(), team_id: null }),
  ];
  expect(new Set([digest, ...others.map((body) => digestOf(body))]).size).toBe(others.length + 1);
});

test('events without a version are equal if their values are, in any order of keys and any spelling', () => {
  const digest = digestOf(sleep({ id: 1, minutes: { deep: 60, light: 120.5 }, stages: [1, 2] }));
  const spelt = sleep({ stages: [1, 2], minutes: { light: 120.5, deep: 60 }, id: 1 });
  expect(digestOf(spelt.replace('60', '6e1').replace('"id"', ' "\\u0069d" '))).toBe(digest);
  expect(digestOf(sleep({ id: 1, minutes: { deep: 61, light: 120.5 }, stages: [1, 2] }))).not.toBe(digest);
  expect(digestOf(sleep({ id: 1, minutes: { deep: 60, light: 120.5 }, stages: [2, 1] }))).not.toBe(digest);
});

test('a dead letter is equal to no event, and unreadable bytes only to themselves', () => {
  const body = orderEvent();
  expect(digestOf(body, userId)).not.toBe(digestOf(body));
  expect(digestOf('a')).toBe(digestOf('a'));
  expect(digestOf('a')).not.toBe(digestOf('b'));
});

test('without a second route no content is compared', () => {
  const reading = { messageId: 'a', receivedAt: new Date(), body: Buffer.from(orderEvent()) };
  expect(readEnvelope(reading, { subjectOf: versionOfOrder, teamId })).not.toHaveProperty('content');
});
