import { expect, test } from 'vitest';
import { Rights } from '../../../gateway/auth/rights.ts';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import { walkSentOrders } from '../../../gateway/domain/order/read/rest.ts';
import { listLastChangedOrders } from '../../../gateway/domain/order/read/rest-last-changed.ts';
import { pageReader } from '../../../gateway/domain/parse.ts';
import type { UpstreamCall } from '../../../gateway/service/calls.ts';
import { bindService } from '../../../gateway/service/service.ts';
import { SharedAnswer } from '../../../gateway/service/shared-answer.ts';
import { Unreadable } from '../../../gateway/service/unreadable.ts';
import { json, openUpstream } from '../../support/misbehaving-service.ts';

const list: UpstreamCall = { operation: 'order.list', method: 'GET', path: '/orders' };

function answerOf(text: string, reader: (sent: unknown) => unknown, places: string[] = []) {
  const onUnreadable = (place: string) => void places.push(place);
  return new SharedAnswer(reader, { json: JSON.parse(text), text }, onUnreadable);
}

test('what was released is read once more when it is shared, and not again', () => {
  let runs = 0;
  const answer = answerOf('{"id":7}', (sent) => {
    runs += 1;
    return { sent };
  });
  expect(answer.thing).toEqual({ sent: { id: 7 } });
  answer.releaseThing();
  expect(runs).toBe(1);

  const shared = answer.thing;
  expect(shared).toEqual({ sent: { id: 7 } });
  answer.releaseThing();
  expect(answer.thing).toBe(shared);
  expect(runs).toBe(2);
});

test('rows that cannot be read are reported once, however often the answer is shared', () => {
  const places: string[] = [];
  const reader = pageReader('orders', (row) => {
    if (typeof row === 'object' && row !== null) return row;
    throw new Unreadable();
  });
  const answer = answerOf('{"orders":[{},3]}', reader, places);
  answer.releaseThing();
  expect(answer.thing).toMatchObject({ rows: [{}, null] });
  expect(places).toEqual(['$.orders.*']);
});

test('what was not parsed from a text is never released', () => {
  const refusal = { status: 409 };
  const answer = new SharedAnswer((sent) => sent, { json: refusal, text: null }, undefined);
  answer.releaseThing();
  expect(answer.thing).toBe(refusal);
});

test.each([
  ['ASCII', `"${'a'.repeat(998)}"`, 1150],
  ['Latin-1, of which the thing may take two bytes for each character', `"${'é'.repeat(998)}"`, 2298],
  ['others, whose text takes two bytes for each character', `"${'a'.repeat(997)}–"`, 2000],
  ['three bytes for each character, of which the thing takes more', `"${'–'.repeat(998)}"`, 3446],
])('a text of %s is charged with the heap that it takes', (_name, text, bytes) => {
  expect(answerOf(text, (sent) => sent).size).toBe(bytes);
});

test('equal calls with different readers share nothing, in flight and in the cache', async () => {
  const cache = new SharedCache({ ttlMs: 60_000 });
  await using open = await openUpstream([json({ orders: [1, 2] })], { cache });
  const asSent = (sent: unknown) => sent;
  const asText = (sent: unknown) => JSON.stringify(sent);
  const common = { rights: 'team', tags: () => ['order x'] };
  const readBoth = () =>
    Promise.all([
      open.upstream.read(list, { ...common, reader: asSent }),
      open.upstream.read(list, { ...common, reader: asText }),
    ]);
  const both = [{ orders: [1, 2] }, '{"orders":[1,2]}'];
  expect(await readBoth()).toEqual(both);
  expect(await readBoth()).toEqual(both);
});

test('a stored answer is shared without a call, and read anew once', async () => {
  const cache = new SharedCache({ ttlMs: 60_000 });
  await using open = await openUpstream([json({ orders: [] })], { cache });
  let runs = 0;
  const reader = (sent: unknown) => {
    runs += 1;
    return { sent };
  };
  const read = () => open.upstream.read(list, { rights: 'team', reader, tags: () => ['order x'] });
  const [first, second, third] = [await read(), await read(), await read()];
  expect(second).toEqual(first);
  expect(third).toBe(second);
  expect({ runs, calls: open.service.calls() }).toEqual({ runs: 2, calls: ['GET /orders'] });
});

test('orders that are read as sent are not cached: the next list that is shown is', async () => {
  const cache = new SharedCache({ ttlMs: 60_000 });
  await using open = await openUpstream([json({ orders: [] })], { cache });
  const service = bindService(open.upstream, { rights: new Rights({ kind: 'TEAM' }) });
  const filter = { userId: '0f2c8f5e-0000-4000-8000-000000000001' };
  const show = () => listLastChangedOrders(service.forShowing, filter);
  await show();
  service.beginAnew();
  await walkSentOrders(service, filter, 1).next();
  expect(open.service.calls()).toHaveLength(2);
  await show();
  await show();
  expect(open.service.calls()).toHaveLength(3);
});
