import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { buildSchema, isInputObjectType, parse, print as printByGraphQL } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { resumeLink } from '../../client/src/apollo.ts';
import { createLabgraphClient, type LabgraphClient } from '../../client/src/client.ts';
import { gatewayCodes } from '../../client/src/errors.ts';
import { encodeFiles } from '../../client/src/files.ts';
import { print } from '../../client/src/print.ts';
import { multipart } from '../../client/src/transports/multipart.ts';
import { sse } from '../../client/src/transports/sse.ts';
import { forwardSubscription } from '../../client/src/urql.ts';
import { errorCodes } from '../../gateway/errors.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { listenAnywhere } from '../support/listening.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

let lab: Lab;
let [orderId, userId] = ['', ''];
let client: LabgraphClient;

beforeAll(async () => {
  lab = await startLab();
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  [orderId, userId] = [order?.orderId ?? '', order?.userId ?? ''];
  client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
});
afterAll(() => lab[Symbol.asyncDispose]());

const followed = `subscription Followed($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind order { id status { label } } }
}`;
const stepText = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';

describe('a request', () => {
  test('gives the data of a query and of a mutation', async () => {
    expect(await client.query('query ($id: ID!) { order(id: $id) { id } }', { id: orderId })).toEqual({
      order: { id: orderId },
    });
    expect(await client.mutate(stepText, { id: orderId })).toEqual({
      simulateOrder: { __typename: 'OrderSimulated' },
    });
  });

  test('is none that Next.js may cache or write into a page when it is built', async () => {
    using fetched = vi.spyOn(globalThis, 'fetch');

    await client.query('{ __typename }');

    expect(fetched.mock.lastCall?.[1]).toMatchObject({ method: 'POST', next: { revalidate: 0 } });
  });

  test('that fails in a part throws a typed error with the rest of the data', async () => {
    const token = await lab.tokenFor(userId);
    const viewer = createLabgraphClient({ url: `${lab.url}/graphql`, token });
    const text = 'query ($id: ID!) { order(id: $id) { id patient { firstName } } }';

    await expect(viewer.query(text, { id: orderId })).rejects.toMatchObject({
      name: 'LabgraphError',
      code: 'FORBIDDEN',
      errors: [{ path: ['order', 'patient'] }],
      data: { order: { id: orderId, patient: null } },
    });
  });

  test('is sent once more with a new token if the gateway rejected the first, and never with a fixed one', async () => {
    const token = vi.fn(async (reason: string) => (reason === 'initial' ? 'expired' : gatewayKey));
    const renewing = createLabgraphClient({ url: `${lab.url}/graphql`, token });
    const fixed = createLabgraphClient({ url: `${lab.url}/graphql`, token: 'expired' });

    expect(await renewing.query('{ viewer { userId } }')).toEqual({ viewer: { userId: null } });
    await expect(fixed.query('{ viewer { userId } }')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

    expect(token.mock.calls).toEqual([['initial'], ['rejected']]);
  });

  test('sends the files in its variables, each to its place, and nothing else as a form', async () => {
    const bodies: unknown[] = [];
    const encode: typeof encodeFiles = (operation) => {
      const body = encodeFiles(operation);
      bodies.push(body);
      return body;
    };
    const sender = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey, encode });
    const page = (name: string) => new File([new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), name], `${name}.jpg`);
    const document = `mutation ($input: CreateLabReportInput!) {
      createLabReport(input: $input) { __typename ... on InputRejected { issues { message } } }
    }`;
    const input = { userId, idempotencyKey: 'pages', files: [page('one'), page('two')] };

    expect(await sender.mutate(document, { input })).toEqual({
      createLabReport: { __typename: 'LabReportCreated' },
    });
    expect(await sender.query('{ __typename }', { nothing: null, at: new Date(0) })).toEqual({
      __typename: 'Query',
    });

    const [form, json] = bodies;
    if (!(form instanceof FormData)) throw new TypeError('Files are sent as a form.');
    expect(JSON.parse(String(form.get('map')))).toEqual({
      0: ['variables.input.files.0'],
      1: ['variables.input.files.1'],
    });
    expect(JSON.parse(String(form.get('operations'))).variables.input.files).toEqual([null, null]);
    expect(json).toBe(
      '{"query":"{ __typename }","variables":{"nothing":null,"at":"1970-01-01T00:00:00.000Z"}}',
    );
  });

  test('takes no input of the graph for a file of React Native', () => {
    const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
    const fields = inputs.flatMap((input) => Object.keys(input.getFields()));

    expect(fields).toContain('files');
    expect(fields).not.toContain('uri');
  });

  test.each([
    ['no gateway', null, 'NETWORK_FAILED'],
    ['a proxy whose gateway is away', 502, 'NETWORK_FAILED'],
    ['a server that is no gateway', 200, 'ANSWER_UNREADABLE'],
  ])('to %s throws a code of its own', async (_name, status, code) => {
    const server = createServer((_request, response) => {
      if (status === null) response.destroy();
      else response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Hello</p>');
    });
    const url = await listenAnywhere(server);
    const stranger = createLabgraphClient({ url, token: gatewayKey });

    await expect(stranger.query('{ viewer { userId } }')).rejects.toMatchObject({ code, errors: [] });

    server.close();
  });

  test('whose token cannot be had says so, and asks for it again the next time', async () => {
    const cause = new Error('Signed out.');
    const token = vi.fn(() => Promise.reject(cause));
    const viewer = createLabgraphClient({ url: `${lab.url}/graphql`, token });

    for (const _time of [1, 2]) {
      await expect(viewer.query('{ viewer { userId } }')).rejects.toMatchObject({
        code: 'TOKEN_UNAVAILABLE',
        cause,
      });
    }

    expect(token).toHaveBeenCalledTimes(2);
  });

  test.each([undefined, '', { token: 'in an object' }])(
    'whose token function returns %j fails with TOKEN_UNAVAILABLE, and calls it again the next time',
    async (answer) => {
      const token = vi.fn(async () => answer as string);
      const viewer = createLabgraphClient({ url: `${lab.url}/graphql`, token });

      for (const _time of [1, 2]) {
        await expect(viewer.query('{ viewer { userId } }')).rejects.toMatchObject({
          code: 'TOKEN_UNAVAILABLE',
        });
      }

      expect(token.mock.calls).toEqual([['initial'], ['initial']]);
    },
  );

  test('that is aborted throws the reason of its signal', async () => {
    const reason = new Error('The page was left.');

    const answer = client.query('{ viewer { userId } }', {}, { signal: AbortSignal.abort(reason) });

    await expect(answer).rejects.toBe(reason);
  });
});

test('the codes are those of the gateway that an operation can end with', () => {
  const ofOthers = /^(WEBHOOK_|EVENT_LOG_(LOCKED|DAMAGED|WEAK)|CONFIG_|ABANDONED)/;

  const codes = Object.keys(errorCodes).filter((code) => !ofOthers.test(code));

  expect([...gatewayCodes].toSorted()).toEqual(codes.toSorted());
});

describe('a parsed document', () => {
  const texts = ['docs/queries.md', 'docs/events.md', 'docs/embedding.md', 'README.md'].flatMap((file) =>
    [
      ...readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').matchAll(
        /^```graphql\n(.*?)^```/gms,
      ),
    ].map(([, text = '']) => text),
  );
  const everything = `query Q($a: [ID!]! = ["x \\"y\\" \\n"], $b: I = {k: [1, 2.5], n: null}) @live(if: true) {
    short: veryLongField(first: $a, second: $b, third: "a text that is long enough to need a second line") { id }
    ... on User @include(if: $c) { id ...F @skip(if: false) } ... { state(kind: ENUM) }
  }
  fragment F on User @x { id }
  mutation { a } subscription S { b }`;

  test('is sent as graphql prints it', () => {
    expect(texts.length).toBeGreaterThan(3);
    for (const text of [...texts, everything]) {
      const document = parse(text, { noLocation: true });
      expect(print(document)).toBe(printByGraphQL(document));
    }
  });
});

describe('the caches of others', () => {
  test('Apollo Client shows a change of a followed order, and a refusal as an error of GraphQL', async () => {
    const httpLink = new HttpLink({
      uri: `${lab.url}/graphql`,
      headers: { authorization: `Bearer ${gatewayKey}` },
    });
    const apollo = new ApolloClient({
      link: ApolloLink.from([resumeLink(client), httpLink]),
      cache: new InMemoryCache(),
    });
    const { data } = await apollo.query({ query: gql`{ viewer { userId } }` });
    expect(data).toMatchObject({ viewer: { userId: null } });
    const items: unknown[] = [];
    const query = gql(followed);
    const updates = apollo.subscribe({ query, variables: { orderId } }).subscribe((item) => items.push(item));
    await expect.poll(() => items.length).toBe(1);
    await client.mutate(stepText, { id: orderId });
    await expect.poll(() => items.length).toBe(2);
    updates.unsubscribe();
    expect(items).toMatchObject([
      { data: { orderUpdates: { kind: 'SNAPSHOT' } } },
      { data: { orderUpdates: { kind: 'CHANGED', order: { __typename: 'Order', id: orderId } } } },
    ]);

    const refused: unknown[] = [];
    apollo
      .subscribe({ query, variables: { orderId: crypto.randomUUID() } })
      .subscribe({ next: (item) => refused.push(item), error: (error) => refused.push(error) });
    await expect.poll(() => refused.length).toBe(1);
    const [{ error }] = refused as [{ error: unknown }];
    expect(CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.code).toBe('NOT_FOUND');
  });

  test('urql shows a change of a followed order, and a refusal as an error of GraphQL', async () => {
    const urql = new Client({
      url: `${lab.url}/graphql`,
      preferGetMethod: false,
      exchanges: [
        fetchExchange,
        subscriptionExchange({ forwardSubscription: forwardSubscription(client, { transport: 'sse' }) }),
      ],
    });
    const items: unknown[] = [];
    const { unsubscribe } = urql
      .subscription(followed, { orderId })
      .subscribe(({ data }) => items.push(data));
    await expect.poll(() => items.length).toBe(1);
    await client.mutate(stepText, { id: orderId });
    await expect.poll(() => items.length).toBe(2);
    unsubscribe();
    expect(items).toMatchObject([
      { orderUpdates: { kind: 'SNAPSHOT' } },
      { orderUpdates: { kind: 'CHANGED', order: { id: orderId } } },
    ]);

    const refused: unknown[] = [];
    urql
      .subscription(followed, { orderId: crypto.randomUUID() })
      .subscribe(({ error }) => refused.push(error?.graphQLErrors[0]?.extensions.code));
    await expect.poll(() => refused[0]).toBe('NOT_FOUND');
  });
});

test('a query that is aborted while its answer arrives throws the reason of its signal', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":');
    begin();
  });
  const slow = createLabgraphClient({ url: await listenAnywhere(server), token: gatewayKey });
  const leaving = new AbortController();
  const answer = slow.query('{ viewer { kind } }', {}, { signal: leaving.signal });
  await begun;
  await wait(50);

  leaving.abort(new Error('left'));

  await expect(answer).rejects.toThrow('left');
  server.close();
});

test('a query that was left before it began leaves no failure of its token behind', async () => {
  const unhandled = vi.fn<NodeJS.UnhandledRejectionListener>();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const failing = createLabgraphClient({
    url: `${lab.url}/graphql`,
    token: () => Promise.reject(new Error('signed out')),
  });
  const signal = AbortSignal.abort(new Error('left'));

  await expect(failing.query('{ viewer { kind } }', {}, { signal })).rejects.toThrow('left');

  await wait(0);
  expect(unhandled).not.toHaveBeenCalled();
});

test('a query whose token never arrives can be left', async () => {
  const waiting = createLabgraphClient({ url: `${lab.url}/graphql`, token: () => new Promise(() => {}) });
  const leaving = new AbortController();
  const answer = waiting.query('{ viewer { kind } }', {}, { signal: leaving.signal });

  leaving.abort(new Error('left'));

  await expect(answer).rejects.toThrow('left');
});

test('a function for tokens that does not answer has failed after a while, and is called again the next time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const token = vi.fn(() => new Promise<string>(() => {}));
  const waiting = createLabgraphClient({ url: `${lab.url}/graphql`, token });
  for (const _time of [1, 2]) {
    const failed = expect(waiting.query('{ viewer { kind } }')).rejects.toMatchObject({
      code: 'TOKEN_UNAVAILABLE',
      cause: new Error('No token within 15000 ms.'),
    });
    await vi.advanceTimersByTimeAsync(15_000);
    await failed;
  }
  vi.useRealTimers();

  expect(token).toHaveBeenCalledTimes(2);
});

test.each([
  [
    'multipart',
    multipart,
    (json: string) => `\r\ncontent-type: application/json\r\n\r\n{"payload":${json}}\r`,
  ],
  ['SSE', sse, (json: string) => `id: 1\nevent: next\ndata: ${json}`],
])('an item with the line separators of Unicode is read whole over %s', (_name, { read }, write) => {
  const result = { data: { orderUpdates: { note: 'one\u2028"}two\u2029three' } } };

  expect(read(write(JSON.stringify(result)))).toEqual(result);
});
