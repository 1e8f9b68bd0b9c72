import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: { MAX_CONNECTIONS: '1' } });
});
afterAll(() => lab[Symbol.asyncDispose]());

const kind = '{ viewer { kind } }';
const subscription = 'subscription { events { type } }';

interface Asking {
  readonly query: string;
  /** None is sent where left out. */
  readonly accept?: string;
  readonly method?: string;
  readonly token?: string;
}

/** By raw headers, because `fetch` always sends an Accept. */
async function ask({ query, accept, method = 'POST', token = gatewayKey }: Asking) {
  const search = method === 'GET' ? `?${new URLSearchParams({ query })}` : '';
  const { statusCode, headers, body } = await request(`${lab.url}/graphql${search}`, {
    method: method === 'GET' ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify({ query }) }),
  });
  return { status: statusCode, type: String(headers['content-type']), text: await body.text() };
}

/** The refusal of an Accept. */
const refusal = (type: string) => ({
  status: 406,
  type: `${type}; charset=utf-8`,
  text: expect.stringMatching(
    /^\{"errors":\[\{"message":"[^"]+","extensions":\{"code":"NOT_ACCEPTABLE"\}\}\]\}$/,
  ),
});

async function countStreams(): Promise<readonly string[]> {
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('labgraph_subscriptions{') && !line.endsWith(' 0'));
}

describe('a subscription whose client accepts no stream is 406, and nothing of it stays open:', () => {
  test.each([
    ['application/json', 'application/json'],
    ['application/graphql-response+json, application/json', 'application/graphql-response+json'],
    ['application/*', 'application/json'],
    ['multipart/mixed', 'application/json'],
    ['multipart/mixed;deferSpec=20220824,application/json', 'application/json'],
    ['text/event-stream;charset=iso-8859-1', 'application/json'],
    ['text/plain', 'application/json'],
  ])('%s', async (accept, type) => {
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    const token = await lab.tokenFor(userId);
    const query = `subscription { userOrderUpdates(userId: "${userId}") { cursor } }`;
    for (const method of ['POST', 'GET']) {
      expect(await ask({ query, accept, method, token })).toEqual(refusal(type));
    }

    expect(await countStreams()).toEqual([]);
    // The one connection that a viewer has here is free.
    const stream = await openEventStream({ url: lab.url, token, query });
    expect(await stream.next()).toMatchObject({ event: 'next' });
    stream.leave();
    await expect.poll(countStreams).toEqual([]);
  });
});

describe('a request whose client accepts no answer is 406 before it is executed:', () => {
  test.each([
    'text/plain',
    'application/json; charset=iso-8859-1',
    'image/*',
    'application/xml',
    'text/html',
  ])('%s', async (accept) => {
    const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    const simulate = `mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`;
    const before = lab.sandbox.calls.length;

    expect(await ask({ query: simulate, accept })).toEqual(refusal('application/json'));
    expect(await ask({ query: `{ order(id: "${order?.orderId}") { id } }`, accept })).toEqual(
      refusal('application/json'),
    );
    expect(await ask({ query: kind, accept, method: 'GET' })).toEqual(refusal('application/json'));
    expect(await ask({ query: '{ nowhere }', accept })).toEqual(refusal('application/json'));

    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test('and the caller is authenticated first', async () => {
    expect(await ask({ query: kind, accept: 'text/plain', token: 'a.b.c' })).toMatchObject({ status: 401 });
  });
});

describe('every other Accept gets its answer:', () => {
  const [json, response] = ['application/json', 'application/graphql-response+json'];
  test.each<readonly [string | undefined, string]>([
    [undefined, `${json}; charset=utf-8`],
    ['', `${json}; charset=utf-8`],
    ['*/*', `${json}; charset=utf-8`],
    ['application/*', `${json}; charset=utf-8`],
    ['application/json', `${json}; charset=utf-8`],
    ['application/json; charset=utf-8', `${json}; charset=utf-8`],
    ['application/json; charset="UTF-8"', `${json}; charset=utf-8`],
    ['APPLICATION/JSON;q=0.5', `${json}; charset=utf-8`],
    ['application/graphql-response+json,application/json;q=0.9', `${response}; charset=utf-8`],
    ['text/html,application/xhtml+xml,*/*;q=0.8', `${json}; charset=utf-8`],
    ['text/plain, application/json', `${json}; charset=utf-8`],
    ['text/event-stream', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['text/event-stream, application/json', `${json}; charset=utf-8`],
    ['multipart/mixed', 'multipart/mixed; boundary="-"'],
    [
      'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json;q=0.9',
      `${json}; charset=utf-8`,
    ],
  ])('%s: %s', async (accept, type) => {
    for (const method of accept?.includes('text/html') ? ['POST'] : ['POST', 'GET']) {
      const answer = await ask({ query: kind, method, ...(accept === undefined ? {} : { accept }) });
      expect(answer).toMatchObject({ status: 200, type });
      expect(answer.text).toContain('{"data":{"viewer":{"kind":"TEAM"}}}');
    }
  });

  test.each([
    ['*/*', 'text/event-stream; charset=utf-8'],
    ['application/json, text/event-stream;q=0.5', 'text/event-stream; charset=utf-8'],
    ['text/*', 'text/event-stream; charset=utf-8'],
    ['multipart/mixed;subscriptionSpec="1.0"', 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"'],
  ])('%s of a subscription: %s', async (accept, type) => {
    const left = new AbortController();
    const { ok, headers } = await fetch(`${lab.url}/graphql`, {
      method: 'POST',
      headers: { accept, authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: subscription }),
      signal: left.signal,
    });
    expect({ ok, type: headers.get('content-type') }).toEqual({ ok: true, type });
    left.abort();
    await expect.poll(countStreams).toEqual([]);
  });
});
