import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const audits = serverAudits({
  url: () => `${lab.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${gatewayKey}`);
    return fetch(url, { ...init, headers });
  },
});

test('there are 61 audits of GraphQL over HTTP', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
  const result = await audit.fn();
  expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
});

test.each(['application/json', 'text/event-stream'])(
  'properties that a server does not know are ignored, also where the answer is %s',
  async (accept) => {
    const response = await fetch(`${lab.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: '{ __typename }', id: 1, hash: 'a', batch: true }),
    });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('{"data":{"__typename":"Query"}}'),
    ]);
  },
);

test.each(['Application/JSON', 'application/json ;charset=UTF-8', 'application/JSON; charset="utf-8"'])(
  'a body of the type %s is read: a media type has no case',
  async (type) => {
    const response = await fetch(`${lab.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': type },
      body: '{"query":"{ __typename }"}',
    });
    expect([response.status, await response.text()]).toEqual([200, '{"data":{"__typename":"Query"}}']);
  },
);
