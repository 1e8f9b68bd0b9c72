import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { canary, malformedBodies } from '../siege/malformed-bodies.ts';
import { type Ask, ways, waysWith } from '../support/ask.ts';
import { hostileQueries } from '../support/hostile-queries.ts';
import { gatewayKey, graphqlRequest, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
let token: string;

beforeAll(async () => {
  lab = await startLab();
  token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const viewerWays = waysWith(() => token);
const codesOf = async (ask: Ask, query: string, variables = {}) =>
  (await ask(lab, query, variables)).errors?.map(({ extensions }) => extensions.code);
const refusals = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'QUERY_TOO_COSTLY',
  'BAD_USER_INPUT',
] as const;

describe.each([...ways, ...viewerWays])('over %s', (_name, ask) => {
  test.each(hostileQueries)('$name: refused before the service is asked', async ({ query, variables }) => {
    const before = lab.sandbox.calls.length;
    const codes = await codesOf(ask, query, variables);
    expect(codes).toBeDefined();
    expect(codes?.filter((code) => !refusals.includes(code))).toEqual([]);
    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test('a name in an error is bounded', async () => {
    const fields = Array.from({ length: 90 }, (_, index) => `kind @skip(if: $x${index})`).join(' ');
    const query = `query ${'A'.repeat(40_000)} { viewer { ${fields} } }`;
    const { errors = [] } = await ask(lab, query);
    expect(errors).toHaveLength(90);
    for (const { message } of errors) expect(message.length).toBeLessThanOrEqual(501);
  });

  test.each([
    ['1,001 tokens', `{ viewer { ${'kind '.repeat(996)} } }`, ['GRAPHQL_PARSE_FAILED']],
    // One fewer is read, and then found to ask for the same too often.
    ['1,000 tokens', `{ viewer { ${'kind '.repeat(995)} } }`, ['GRAPHQL_VALIDATION_FAILED']],
    ['51 aliases', `{ viewer { ${alias(51)} } }`, ['QUERY_TOO_COSTLY']],
    ['50 aliases', `{ viewer { ${alias(50)} } }`, undefined],
    ['51 directives', `{ viewer { ${'kind @include(if: true) '.repeat(51)} } }`, ['QUERY_TOO_COSTLY']],
    ['50 directives', `{ viewer { ${'kind @include(if: true) '.repeat(50)} } }`, undefined],
    ['16 levels', levels('demographics { firstName }'), ['QUERY_TOO_COSTLY']],
    ['15 levels', levels('id'), undefined],
    [
      'fragments in a circle',
      '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
      ['GRAPHQL_VALIDATION_FAILED'],
    ],
  ])('%s', async (_what, query, codes) => {
    expect(await codesOf(ask, query)).toEqual(codes);
  });
});

/** The text in `last` begins on the 15th level. */
function levels(last: string): string {
  const more = 'orders(first: 1) { nodes { user {';
  return `{ users(first: 1) { nodes { ${more.repeat(4)} ${last} ${'} } }'.repeat(4)} } } }`;
}

function alias(count: number): string {
  return Array.from({ length: count }, (_, index) => `a${index}: kind`).join(' ');
}

describe('the schema', () => {
  const introspection = '{ __schema { queryType { name } } }';
  const misspelt = '{ vewer { kind } }';

  test.each(viewerWays)('is shown to no viewer over %s, and no name is suggested', async (_name, ask) => {
    for (const query of [introspection, '{ __type(name: "Order") { name } }']) {
      const { data, errors } = await ask(lab, query);
      expect(data).toBeUndefined();
      expect(errors?.[0].extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' });
    }
    expect((await ask(lab, misspelt)).errors?.[0].message).toBe(
      'Cannot query field "vewer" on type "Query".',
    );
  });

  test.each(ways)(
    'is shown to servers of the team over %s, even after a viewer asked',
    async (_name, ask) => {
      expect((await ask(lab, introspection)).data).toEqual({ __schema: { queryType: { name: 'Query' } } });
      expect((await ask(lab, misspelt)).errors?.[0].message).toContain('Did you mean "viewer"');
    },
  );

  test('is not hidden from a viewer by the name of a type alone', async () => {
    expect((await lab.query('{ viewer { __typename } }', { token })).errors).toBeUndefined();
  });
});

describe('one request is one operation', () => {
  const one = { query: '{ viewer { kind } }' };

  test('a list of them is refused over HTTP', async () => {
    const response = await lab.gateway.fetch(graphqlRequest(lab.url, [one, one], gatewayKey));
    expect(response.status).toBe(400);
    expect((await response.json()).errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }]);
  });

  test('a list of messages closes a socket', async () => {
    const socket = await openSocket();
    socket.send(JSON.stringify([{ type: 'connection_init' }, { type: 'ping' }]));
    expect((await once(socket, 'close'))[0]).toBe(4400);
  });
});

test('a message that is none closes a socket, and is not repeated', async () => {
  const closings = await Promise.all(
    malformedBodies.map(async ({ bytes }) => {
      const socket = await openSocket();
      socket.send(bytes, { binary: false });
      const [code, reason] = await once(socket, 'close');
      return `${code} ${reason}`;
    }),
  );
  expect([...new Set(closings.map((closing) => closing.slice(0, 4)))].toSorted()).toEqual(['1007', '4400']);
  expect(closings.filter((closing) => closing.includes(canary.slice(0, 11)))).toEqual([]);
});

describe('more than 100 kB', () => {
  const body = JSON.stringify({ query: `{ viewer { kind } } #${'x'.repeat(100_000)}` });

  test('is refused over HTTP', async () => {
    const request = graphqlRequest(lab.url, JSON.parse(body), gatewayKey);
    const response = await lab.gateway.fetch(request);
    expect(response.status).toBe(413);
    expect(await response.text()).not.toContain('xxx');
  });

  test('closes a socket', async () => {
    const socket = await openSocket();
    socket.send(body);
    expect((await once(socket, 'close'))[0]).toBe(1009);
  });
});

async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  return socket;
}

describe('what a page of another site can send', () => {
  const query = 'mutation { createUser(input: { clientUserId: "forged" }) { __typename } }';

  test.each([
    ['a form', 'application/x-www-form-urlencoded', `query=${encodeURIComponent(query)}`],
    ['plain text', 'text/plain', JSON.stringify({ query })],
    ['an upload', 'multipart/form-data; boundary=x', '--x--'],
  ])('without asking first gets no further than 401: %s', async (_what, type, body) => {
    const before = lab.sandbox.calls.length;
    const headers = { 'content-type': type, origin: 'https://evil.example' };
    const response = await fetch(`${lab.url}/graphql`, { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test.each([
    ['a form', 'application/x-www-form-urlencoded', `query=${encodeURIComponent('{ viewer { kind } }')}`],
    ['bare text', 'application/graphql', '{ viewer { kind } }'],
    ['plain text', 'text/plain', JSON.stringify({ query: '{ viewer { kind } }' })],
  ])('is not read from anybody: %s', async (_what, type, body) => {
    const headers = { 'content-type': type, authorization: `Bearer ${gatewayKey}` };
    const response = await fetch(`${lab.url}/graphql`, { method: 'POST', headers, body });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  });

  test('when it asks first is not allowed', async () => {
    const response = await fetch(`${lab.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('over a socket is refused', async () => {
    const address = `${lab.url.replace('http', 'ws')}/graphql`;
    const socket = new WebSocket(address, 'graphql-transport-ws', { origin: 'https://evil.example' });
    const [error] = await once(socket, 'error').catch((cause: unknown) => [cause]);
    expect(String(error)).toContain('403');
  });

  test('a GET changes nothing', async () => {
    const before = lab.sandbox.calls.length;
    const address = `${lab.url}/graphql?${new URLSearchParams({ query })}`;
    const response = await fetch(address, { headers: { authorization: `Bearer ${gatewayKey}` } });
    expect(response.status).toBe(405);
    expect(lab.sandbox.calls).toHaveLength(before);
  });
});

test.each([
  ['https://app.example.com', true],
  ['https://app.example.com.evil.example', false],
  ['https://sub.app.example.com', false],
  ['http://app.example.com', false],
  ['https://app.example.com:8443', false],
  ['capacitor://localhost', true],
  ['capacitor://localhost:8100', false],
  ['ionic://localhost', false],
  ['null', false],
])('an origin is allowed when it is exactly one of the list: %s', async (origin, isAllowed) => {
  const ALLOWED_ORIGINS = 'https://app.example.com,capacitor://localhost';
  await using listed = await startLab({ env: { ALLOWED_ORIGINS } });
  const authorization = `Bearer ${gatewayKey}`;
  const response = await fetch(`${listed.url}/graphql?query={viewer{kind}}`, {
    headers: { origin, authorization },
  });
  expect(response.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);

  const address = `${listed.url.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(address, 'graphql-transport-ws', { origin });
  const opened = await once(socket, 'open').then(
    () => true,
    () => false,
  );
  socket.terminate();
  expect(opened).toBe(isAllowed);
});

test.each([
  ['https://gateway.example.com', 'gateway.example.com', 101],
  ['https://gateway.example.com:443', 'gateway.example.com', 101],
  ['https://gateway.example.com', 'gateway.example.com:443', 101],
  ['wss://gateway.example.com', 'Gateway.example.com', 101],
  ['http://10.0.2.2:4000', '10.0.2.2:4000', 101],
  ['http://[::1]:4000', '[::1]:4000', 101],
  ['http://gateway.example.com:81', 'gateway.example.com', 403],
  ['https://gateway.example.com.evil.example', 'gateway.example.com', 403],
  ['https://evil.example', 'gateway.example.com', 403],
  ['null', 'null', 403],
])(
  'native clients send the own origin of the gateway with an upgrade: %s to %s',
  async (origin, host, status) => {
    const opened = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { origin, host },
    });
    const [answered] = await Promise.race([
      once(opened, 'upgrade').then(() => [101]),
      once(opened, 'unexpected-response').then(([, response]) => [response.statusCode]),
    ]);
    opened.on('error', () => {});
    opened.terminate();
    expect(answered).toBe(status);
  },
);

test('every answer forbids type sniffing and framing', async () => {
  for (const path of ['/health', '/graphql', '/nowhere', '/webhooks']) {
    const { headers } = await fetch(`${lab.url}${path}`);
    expect([path, headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual([
      path,
      'nosniff',
      'DENY',
    ]);
  }
});
