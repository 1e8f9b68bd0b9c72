import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { fillDisk } from '../../support/full-disk.ts';
import { startLab } from '../../support/lab.ts';
import { openEndpoint, orderEvent, orderId, signedHeaders, teamId, userId } from './support.ts';

const mebibyte = 1024 * 1024;

describe('a new message', () => {
  test('is stored as it came and acknowledged with 202', async () => {
    await using endpoint = await openEndpoint();
    const body = orderEvent();
    expect(await endpoint.deliver(body)).toBe(202);
    expect(await endpoint.delivered()).toEqual([
      {
        position: await endpoint.events.position(),
        messageId: 'msg_1',
        receivedAt: expect.any(Date),
        type: 'labtest.order.updated',
        userId,
        clientUserId: 'member-1',
        teamId,
        subject: { id: orderId, version: 7 },
        trace: null,
        origin: 'webhook',
        body: Buffer.from(body),
      },
    ]);
    expect(endpoint.outcomes).toEqual(['accepted']);
  });

  test('is logged with its id, type and place, and nothing of its body', async () => {
    await using endpoint = await openEndpoint();
    await endpoint.deliver(orderEvent());
    expect(endpoint.logged.map((line) => JSON.parse(line))).toEqual([
      {
        level: 30,
        time: expect.any(String),
        event: 'webhook.accepted',
        messageId: 'msg_1',
        eventType: 'labtest.order.updated',
        position: await endpoint.events.position(),
        duplicate: false,
      },
    ]);
  });
});

describe('a repeated message', () => {
  test('is stored once and acknowledged with 200', async () => {
    await using endpoint = await openEndpoint();
    const statuses = [
      await endpoint.deliver(orderEvent()),
      await endpoint.deliver(orderEvent(), { prefix: 'svix', age: 20 }),
    ];
    expect(statuses).toEqual([202, 200]);
    expect(await endpoint.delivered()).toHaveLength(1);
    expect(endpoint.outcomes).toEqual(['accepted', 'duplicate']);
  });

  test('is stored once when both copies come at once', async () => {
    await using endpoint = await openEndpoint();
    const statuses = await Promise.all([endpoint.deliver(orderEvent()), endpoint.deliver(orderEvent())]);
    expect(statuses.toSorted()).toEqual([200, 202]);
    expect(await endpoint.delivered()).toHaveLength(1);
  });

  test('with another body changes nothing, and is counted', async () => {
    await using endpoint = await openEndpoint();
    await endpoint.deliver(orderEvent());
    expect(await endpoint.deliver(orderEvent({ client_user_id: 'member-2' }))).toBe(200);
    expect(await endpoint.delivered()).toMatchObject([{ clientUserId: 'member-1' }]);
    expect(endpoint.outcomes).toEqual(['accepted', 'altered']);
  });
});

describe('an event that a retry could not mend is stored and acknowledged, and delivered to nobody:', () => {
  test.each([
    ['no JSON', 'not JSON'],
    ['nothing', ''],
    ['JSON that is no object', '[]'],
    ['an event without a type', '{"data":{}}'],
    ['an event with an empty type', '{"event_type":""}'],
    ['an event of another team', orderEvent({ team_id: 'aaaaaaaa-3526-4838-8c92-063fa760fb6b' })],
  ])('%s', async (_name, body) => {
    await using endpoint = await openEndpoint();
    expect([await endpoint.deliver(body), await endpoint.deliver(body)]).toEqual([202, 200]);
    expect(await endpoint.events.position()).toBeGreaterThan(0);
    expect(await endpoint.delivered()).toEqual([]);
    expect(endpoint.outcomes).toEqual(['dead', 'duplicate']);
  });
});

describe('an event', () => {
  test.each([
    ['of an unknown type', { event_type: 'a.type.nobody.knows', data: 'text' }, { subject: null, userId }],
    ['without a user', { event_type: 'x', data: null, user_id: null }, { userId: null }],
    [
      'with its user inside only',
      { event_type: 'x', data: { user_id: 'U-1' }, user_id: undefined },
      { userId: 'u-1' },
    ],
    ['whose team is in capitals', { team_id: teamId.toUpperCase() }, { teamId }],
    ['that names no team', { team_id: null }, { teamId: null }],
    [
      'with fields of wrong types',
      { event_type: 'x', data: [], team_id: 5, user_id: [], client_user_id: {} },
      { teamId: null, userId: null },
    ],
    ['of an order without events', { data: { id: orderId, user_id: userId, events: [] } }, { subject: null }],
  ])('%s is stored and delivered', async (_name, more, expected) => {
    await using endpoint = await openEndpoint();
    expect(await endpoint.deliver(orderEvent(more))).toBe(202);
    expect(await endpoint.delivered()).toMatchObject([expected]);
    expect(endpoint.outcomes).toEqual(['accepted']);
  });

  test('of any team is delivered while nobody has named ours', async () => {
    await using endpoint = await openEndpoint({ teamId: async () => null });
    await endpoint.deliver(orderEvent());
    expect(await endpoint.delivered()).toHaveLength(1);
  });
});

describe('a body', () => {
  const bodyOf = (bytes: number) => orderEvent({ data: 'x'.repeat(bytes - orderEvent({ data: '' }).length) });
  const streamOf = (text: string) => new Blob([text]).stream();

  test('of 1 MiB is accepted, announced or in chunks', async () => {
    await using endpoint = await openEndpoint();
    const body = bodyOf(mebibyte);
    expect(Buffer.byteLength(body)).toBe(mebibyte);
    expect(await endpoint.deliver(body)).toBe(202);
    expect((await endpoint.post(streamOf(body), signedHeaders(body, { id: 'msg_2' }))).status).toBe(202);
  });

  test.each(['announced', 'in chunks'])('of one byte more, %s, is refused with 413', async (how) => {
    await using endpoint = await openEndpoint();
    const body = bodyOf(mebibyte + 1);
    const length = how === 'announced' ? { 'content-length': String(body.length) } : {};
    const response = await endpoint.post(streamOf(body), { ...signedHeaders(body), ...length });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: 'WEBHOOK_TOO_LARGE' } });
    expect(endpoint.outcomes).toEqual(['refused']);
    expect(await endpoint.events.position()).toBe(0);
  });

  test('announced as too long is not read at all', async () => {
    await using endpoint = await openEndpoint();
    const unread = new ReadableStream({ pull: () => expect.unreachable() }, { highWaterMark: 0 });
    const response = await endpoint.post(unread, { 'content-length': String(mebibyte + 1) });
    expect(response.status).toBe(413);
  });

  test('without end is refused over a real connection while it is still being sent', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const endless = request(`${lab.url}/webhooks`, { method: 'POST', headers: signedHeaders('') });
    endless.on('error', () => {}); // The gateway may cut the rest off.
    const send = () => {
      while (!endless.destroyed && endless.write('x'.repeat(64 * 1024)));
    };
    endless.on('drain', send);
    send();
    const [response] = await once(endless, 'response');
    expect(response.statusCode).toBe(413);
    endless.destroy();
  });

  test.each(['gzip', 'identity', 'br'])('with content-encoding %s is refused with 415', async (encoding) => {
    await using endpoint = await openEndpoint();
    const headers = { 'content-encoding': encoding };
    expect(await endpoint.deliver(orderEvent(), { headers })).toBe(415);
    expect(endpoint.outcomes).toEqual(['refused']);
    expect(await endpoint.events.position()).toBe(0);
  });
});

test('What cannot be made durable is answered with 503, logged once a minute, and taken when it comes again', async () => {
  await using endpoint = await openEndpoint();
  await endpoint.deliver(orderEvent());
  {
    using _ = fillDisk();
    const body = orderEvent({ client_user_id: 'member-2' });
    const response = await endpoint.post(body, signedHeaders(body, { id: 'msg_2' }));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toEqual({
      error: {
        code: 'EVENT_LOG_UNAVAILABLE',
        message: 'The webhook could not be made durable. Send it again.',
      },
    });
    expect(await endpoint.delivered()).toHaveLength(1);
    for (const id of ['msg_3', 'msg_4', 'msg_5']) expect(await endpoint.deliver(body, { id })).toBe(503);
  }
  expect(endpoint.logged.filter((line) => line.includes('webhook.unavailable'))).toHaveLength(1);
  expect(await endpoint.deliver(orderEvent(), { id: 'msg_2' })).toBe(202);
  expect(await endpoint.delivered()).toHaveLength(2);
  expect(endpoint.outcomes).toEqual(['accepted', ...Array(4).fill('unavailable'), 'accepted']);
});

test('A signed event that is nested too deep is a dead letter: it could not be shown', async () => {
  await using endpoint = await openEndpoint();
  expect(await endpoint.deliver(`{"event_type":"x","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).toBe(
    202,
  );
  expect(await endpoint.delivered()).toEqual([]);
});
