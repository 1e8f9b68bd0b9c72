import { createHash } from 'node:crypto';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { RetryLink } from '@apollo/client/link/retry';
import { createClient, NetworkError } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const kind = '{ viewer { kind } }';
const apolloAccept = 'application/graphql-response+json,application/json;q=0.9';

interface Asking {
  readonly url?: string;
  readonly accept?: string;
  readonly bearer?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function ask({
  url = lab.url,
  accept = '*/*',
  bearer = gatewayKey,
  method = 'POST',
  headers,
  body = { query: kind },
}: Asking) {
  const response = await fetch(`${url}/graphql`, {
    method,
    headers: { accept, authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  const { errors } = await response.json();
  const type = response.headers.get('content-type')?.split(';')[0];
  return { status: response.status, type, code: errors[0].extensions.code, message: errors[0].message };
}

describe('a refusal has the media type that the client accepts first', () => {
  test.each([
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/json, application/graphql-response+json', 'application/json'],
    ['application/graphql-response+json', 'application/graphql-response+json'],
    [apolloAccept, 'application/graphql-response+json'],
    [
      `multipart/mixed;boundary=graphql;subscriptionSpec=1.0,${apolloAccept}`,
      'application/graphql-response+json',
    ],
    ['text/event-stream', 'application/json'],
  ])('%s: %s', async (accept, type) => {
    expect(await ask({ accept, bearer: 'a.b.c' })).toMatchObject({
      status: 401,
      type,
      code: 'UNAUTHENTICATED',
    });
    expect(await ask({ accept, headers: { 'content-type': 'text/plain' } })).toMatchObject({
      status: 415,
      type,
    });
  });

  test('also where a caller has no points left', async () => {
    await using other = await startLab({ env: { RATE_LIMIT_POINTS: '1' } });
    await other.query(kind);
    for (const type of ['application/json', 'application/graphql-response+json']) {
      const refused = await ask({ url: other.url, accept: type });
      expect(refused).toMatchObject({ status: 429, type, code: 'RATE_LIMITED' });
    }
  });
});

test('a wrong gateway key is named as that, without a word of it', async () => {
  const wrong = await ask({ bearer: 'some-wrong-key' });
  expect(wrong).toMatchObject({
    status: 401,
    message: 'The bearer token is no gateway key and no viewer token.',
  });
  expect(await ask({ bearer: 'some.wrong.token' })).toMatchObject({
    message: 'The viewer token is not valid or has expired.',
  });
});

/** A link that counts the requests, and the bodies that they had. */
function countRequests(bearer: string) {
  const bodies: { readonly query?: string }[] = [];
  const link = new HttpLink({
    uri: `${lab.url}/graphql`,
    headers: { authorization: `Bearer ${bearer}` },
    fetch: (address, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return fetch(address, init);
    },
  });
  return { link, bodies };
}

test.each([
  ['query', kind],
  ['subscription', 'subscription { events { type } }'],
])(
  'the ErrorLink of Apollo Client reads UNAUTHENTICATED after one request of a %s, beside a RetryLink',
  async (_name, text) => {
    const { link, bodies } = countRequests('a.b.c');
    const codes: unknown[] = [];
    const client = new ApolloClient({
      link: ApolloLink.from([
        new ErrorLink(({ error }) => {
          codes.push(CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.code : error);
        }),
        new RetryLink({ delay: { initial: 1 } }),
        link,
      ]),
      cache: new InMemoryCache(),
    });
    const query = gql(text);
    if (text === kind) await client.query({ query, errorPolicy: 'all' });
    else
      await new Promise<void>((resolve) =>
        client.subscribe({ query }).subscribe({ complete: resolve, error: () => resolve() }),
      );
    expect(codes).toEqual(['UNAUTHENTICATED']);
    expect(bodies).toHaveLength(1);
  },
);

test('the persisted-query link of Apollo Client asks once, and then always sends the text', async () => {
  const { link, bodies } = countRequests(gatewayKey);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const client = new ApolloClient({
    link: new PersistedQueryLink({ sha256 }).concat(link),
    cache: new InMemoryCache(),
  });
  for (const name of ['one', 'other', 'third']) {
    const query = gql(`query ${name} { viewer { kind } }`);
    const { error } = await client.query({ query, errorPolicy: 'all', fetchPolicy: 'no-cache' });
    expect(error).toBeUndefined();
  }
  expect(bodies.map(({ query }) => query !== undefined)).toEqual([false, true, true, true]);
  const persistedQuery = { version: 1, sha256Hash: sha256(kind) };
  const refusal = await ask({ accept: apolloAccept, body: { extensions: { persistedQuery } } });
  expect(refusal).toMatchObject({ status: 404, code: 'PERSISTED_QUERY_NOT_SUPPORTED' });
});

test('the single connection mode of graphql-sse is 405, and so is a request for one of its streams', async () => {
  const refused = {
    status: 405,
    code: 'BAD_REQUEST',
    message: expect.stringContaining('distinct connections'),
  };
  expect(await ask({ method: 'PUT' })).toMatchObject(refused);
  expect(await ask({ headers: { 'x-graphql-event-stream-token': 'some-token' } })).toMatchObject(refused);

  const client = createClient({
    url: `${lab.url}/graphql`,
    headers: { authorization: `Bearer ${gatewayKey}` },
    singleConnection: true,
    retryAttempts: 0,
  });
  const fault = await client
    .iterate({ query: kind })
    .next()
    .catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(NetworkError);
  expect(fault).toMatchObject({ response: { status: 405 } });
});

test.each(['{ ... @defer { viewer { kind } } }', '{ users { nodes @stream { id } } }'])(
  '%s is refused, because every answer is whole',
  async (query) => {
    const accept = `multipart/mixed;deferSpec=20220824,${apolloAccept}`;
    expect(await ask({ accept, body: { query } })).toMatchObject({
      status: 400,
      type: 'application/graphql-response+json',
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
  },
);
