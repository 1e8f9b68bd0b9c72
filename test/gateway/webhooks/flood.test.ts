import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createLog } from '../../../gateway/log.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, graphqlRequest, startLab, webhookSecret } from '../../support/lab.ts';
import { replaceMembers } from '../../support/members.ts';
import type { FloodReport, FloodWork } from '../../support/webhook-flood.ts';
import { openEndpoint, orderEvent, secretOf, signedHeaders } from './support.ts';

const mebibyte = 1024 * 1024;

/** A real log that makes nothing durable before it is let, as on a disk that hangs. */
async function openHangingLog(path: string) {
  const { log } = await openEventStore(
    { kind: 'sqlite', path },
    { keys: [], log: createLog({ level: 'silent' }) },
  );
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let waiting = 0;
  const append: typeof log.append = async (message) => {
    waiting += 1;
    await released;
    return await log.append(message);
  };
  const events = replaceMembers(log, { append });
  return { events, waiting: () => waiting, release, [Symbol.asyncDispose]: () => log.close() };
}

const unread = () => new ReadableStream({ pull: () => expect.unreachable() }, { highWaterMark: 0 });

test('while 1,000 messages are in progress the next is refused unread, and it is accepted when there is room again', async () => {
  using folder = makeFolder();
  await using hanging = await openHangingLog(folder.file('events.db'));
  await using endpoint = await openEndpoint({ events: hanging.events });
  const body = orderEvent();
  const inHand = Array.from({ length: 1000 }, (_, index) => endpoint.deliver(body, { id: `msg_${index}` }));
  await expect.poll(hanging.waiting).toBe(1000);

  const turnedAway = await endpoint.post(unread(), signedHeaders(body));
  expect(turnedAway.headers.get('retry-after')).toBe('5');
  expect(await turnedAway.json()).toMatchObject({ error: { code: 'WEBHOOK_FLOODED' } });
  hanging.release();
  expect(new Set(await Promise.all(inHand))).toEqual(new Set([202]));
  expect(await endpoint.deliver(body, { id: 'msg_1000' })).toBe(202);
  expect(await hanging.events.read({}, 0, 2000)).toMatchObject({ events: { length: 1001 } });
  expect(endpoint.logged.filter((line) => line.includes('webhook.flooded'))).toHaveLength(1);
});

test('messages in progress have 64 MiB at most, announced or in chunks', async () => {
  using folder = makeFolder();
  await using hanging = await openHangingLog(folder.file('events.db'));
  await using endpoint = await openEndpoint({ events: hanging.events });
  const body = orderEvent({ data: 'x'.repeat(mebibyte - orderEvent({ data: '' }).length) });
  const inHand = Array.from({ length: 64 }, (_, index) => endpoint.deliver(body, { id: `msg_${index}` }));
  await expect.poll(hanging.waiting).toBe(64);
  expect((await endpoint.post(unread(), { ...signedHeaders(body), 'content-length': '1' })).status).toBe(503);
  expect(await endpoint.deliver('x')).toBe(503);

  hanging.release();
  expect(new Set(await Promise.all(inHand))).toEqual(new Set([202]));
  expect(await endpoint.deliver(body, { id: 'msg_64' })).toBe(202);
});

test('stalled bodies are evicted for active ones, and their senders get a status that asks to retry', async () => {
  await using endpoint = await openEndpoint();
  const stalled = () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(mebibyte - 1)),
    });
    return endpoint.post(body, signedHeaders('', { secret: secretOf('x') }));
  };
  const first = stalled();
  for (let count = 0; count < 64; count += 1) void stalled();
  expect((await first).status).toBe(503);
  expect((await first).headers.get('retry-after')).toBe('5');
  const large = orderEvent({ data: 'x'.repeat(mebibyte - orderEvent({ data: '' }).length) });
  expect(await endpoint.deliver(large)).toBe(202);
  expect(await endpoint.deliver(orderEvent(), { id: 'msg_2' })).toBe(202);
});

test('during a flood of webhooks queries are answered, and no acknowledged webhook is lost', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const everything = await openEventStream({
    url: lab.url,
    token: gatewayKey,
    query: 'subscription { events { ... on UnknownEvent { payload } } }',
  });
  await everything.nextFrame();
  const workerData: FloodWork = { url: lab.url, secret: webhookSecret, count: 80, bodyBytes: 1_000_000 };
  const flood = new Worker(new URL('../../support/webhook-flood.ts', import.meta.url), { workerData });
  let report: FloodReport | null = null;
  const finished = once(flood, 'message').then(([message]) => {
    report = message;
  });

  let answered = 0;
  while (report === null) {
    const request = graphqlRequest(lab.url, { query: '{ labTests(first: 1) { nodes { id } } }' }, gatewayKey);
    const answer = await (await fetch(request)).json();
    expect(answer.data.labTests.nodes).toHaveLength(1);
    answered += 1;
  }
  await finished;
  const { acknowledged, turnedAway, cut, other } = report as FloodReport;
  expect(other).toEqual([]);
  expect(acknowledged.length + turnedAway + cut).toBe(80);
  expect(turnedAway).toBeGreaterThan(0);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(answered).toBeGreaterThan(5);
  const delivered = new Set<number>();
  while (delivered.size < acknowledged.length) {
    delivered.add(JSON.parse((await everything.next())?.data ?? '').data.events.payload.index);
  }
  expect(delivered).toEqual(new Set(acknowledged));
  everything.leave();
});
