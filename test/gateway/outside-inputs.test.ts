import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway } from '../../gateway/gateway.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type SpoiltLab, startSpoiltLab } from '../support/spoilt-lab.ts';

/** What anybody can send, and what a service can answer, in forms that no ordinary client or service uses. */
let lab: SpoiltLab;
let demo: Lab;

beforeAll(async () => {
  lab = await startSpoiltLab();
  demo = await startLab({
    env: { EVENT_LOG: 'memory:', ALLOWED_ORIGINS: 'https://page.example:8443' },
    make: (parts) =>
      createGateway({ ...parts, demo: { graphiql: { gatewayKey, queries: [] }, listPeople: () => [] } }),
  });
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers: readonly string[];
  readonly body?: string;
}

/** The whole answer to a request with just these headers, over a socket. */
function ask(
  url: string,
  { method = 'POST', path = '/graphql', headers, body = '' }: Asked,
): Promise<string> {
  const lines = [`${method} ${path} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`];
  return sendRaw(url, Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`));
}

const statusOf = (reply: string): string => reply.slice(9, 12);
const authorization = `Authorization: Bearer ${gatewayKey}`;
const json = 'Content-Type: application/json';

describe('a request with the Host', () => {
  const routes = [
    { path: '/graphql', body: '{"query":"{ __typename }"}', headers: [authorization, json] },
    { method: 'GET', path: '/graphql?query={__typename}', headers: [authorization] },
    { method: 'GET', path: '/health', headers: [] },
  ];

  test.each(['', 'a b', 'a/b', 'user@a', 'a:b', 'a:65536', '1.2.3', '0x7f.1', '[::g]', 'ex%61mple', 'a,b'])(
    '%j is refused with 400 by every route',
    async (host) => {
      for (const asked of routes) {
        const reply = await ask(lab.url, { ...asked, headers: [`Host: ${host}`, ...asked.headers] });
        expect(statusOf(reply)).toBe('400');
      }
    },
  );

  test.each(['localhost', 'GATEWAY.example.com:80', '127.0.0.1:1', '[::1]:4000', 'a_b'])(
    '%j is answered by every route',
    async (host) => {
      for (const asked of routes) {
        const reply = await ask(lab.url, { ...asked, headers: [`Host: ${host}`, ...asked.headers] });
        expect(statusOf(reply)).toBe('200');
      }
    },
  );
});

describe('the demo, its tokens and GraphiQL', () => {
  const userId = '0f2c8f5e-0000-4000-8000-00000000000a';
  const shown = [
    { path: '/demo/token', headers: [json], body: JSON.stringify({ userId }) },
    { method: 'GET', path: '/demo/people', headers: [] },
    { method: 'GET', path: '/demo/demo.js', headers: [] },
    { method: 'GET', path: '/', headers: [] },
    { method: 'GET', path: '/graphql', headers: ['Accept: text/html'] },
  ];

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example:4000'])(
    'are not answered at %j, which a page has let point here',
    async (host) => {
      for (const asked of shown) {
        const reply = await ask(demo.url, { ...asked, headers: [`Host: ${host}`, ...asked.headers] });
        expect(statusOf(reply)).toBe('421');
        expect(reply).toContain('the names in HOST and ALLOWED_ORIGINS');
        expect(reply).not.toContain(gatewayKey);
      }
    },
  );

  test.each([
    '127.0.0.1:4000',
    'localhost',
    'LOCALHOST:1',
    'my.localhost',
    '[::1]:4000',
    '192.0.2.1',
    'page.example',
  ])('are answered at %j, with any port', async (host) => {
    for (const asked of shown) {
      const reply = await ask(demo.url, { ...asked, headers: [`Host: ${host}`, ...asked.headers] });
      expect(statusOf(reply)).toBe('200');
    }
  });

  test('take a body of two ids, and read no more of a longer one', async () => {
    const request = JSON.stringify({ userId });
    const post = async (body: BodyInit) => {
      // Node asks for `duplex` where a body is a stream.
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
      return (await fetch(`${demo.url}/demo/token`, init)).status;
    };
    const long = request.padStart(100_000);
    expect(await post(request)).toBe(200);
    expect(await post(new Blob([request]).stream())).toBe(200);
    expect(await post('')).toBe(400);
    expect(await post(long)).toBe(413);
    expect(await post(new Blob([long]).stream())).toBe(413);
  });

  test('leave queries with a key to every name, as those of another container', async () => {
    const body = '{"query":"{ __typename }"}';
    const reply = await ask(demo.url, { headers: ['Host: gateway', authorization, json], body });
    expect(statusOf(reply)).toBe('200');
  });
});

test('one unknown directive ten times is one error with ten places', async () => {
  const { errors, status } = await lab.query(`{ __typename ${'@aa'.repeat(10)} }`);
  expect({ status, count: errors?.length }).toEqual({ status: 200, count: 1 });
  expect(errors?.[0].locations).toHaveLength(10);
});

test.each(['multipart/mixed', 'text/event-stream'])(
  'a request for %s that asks for a close is answered with one',
  async (accept) => {
    const headers = ['Host: a', authorization, json, `Accept: ${accept}`, 'Connection: close'];
    const reply = await ask(lab.url, { headers, body: '{"query":"{ __typename }"}' });
    expect(reply).toMatch(/^connection: close\r$/im);
    expect(reply).not.toMatch(/keep-alive/i);
  },
);

test('a service that asks to be left alone for 400 digits of seconds is left alone for a day', async () => {
  lab.spoil({
    at: /^GET /,
    isDone: false,
    answer: (response) => void response.writeHead(429, { 'retry-after': '9'.repeat(400) }).end(),
  });
  const { errors } = await lab.query('{ users(first: 1) { nodes { id } } }');
  expect(errors?.[0].extensions).toEqual({ code: 'UPSTREAM_RATE_LIMITED', retryAfterSeconds: 86_400 });
});

test('a cursor of a list in any other spelling is none', async () => {
  const read = 'query ($after: String) { users(first: 1, after: $after) { pageInfo { endCursor } } }';
  const first = await lab.query(read);
  const after: string = first.data.users.pageInfo.endCursor;
  expect((await lab.query(read, { variables: { after } })).errors).toBeUndefined();
  const other = await lab.query(read, { variables: { after: `${after}=` } });
  expect(other.errors?.[0].extensions.code).toBe('BAD_CURSOR');
});

test('a viewer token in any other spelling is none', async () => {
  const [user] = lab.sandbox.users();
  const token = await lab.tokenFor(user?.userId ?? '');
  expect((await lab.query('{ viewer { kind } }', { token })).status).toBe(200);
  for (const other of [`${token}=`, `${token}==`, token.replace('.', '=.'), `${token}!`, `${token}.`]) {
    expect((await lab.query('{ viewer { kind } }', { token: other })).status).toBe(401);
  }
});

test('a warning of Node is a log line like every other', async () => {
  using folder = makeFolder();
  const warn = "process.on('SIGUSR2', () => setTimeout(() => {}, -1))";
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(warn)}`,
  });
  process.kill(gateway.pid, 'SIGUSR2');
  const warnings = () => gateway.output.filter((line) => line.includes('TimeoutNegativeWarning'));
  await expect.poll(warnings).toHaveLength(1);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(warnings().map((line) => JSON.parse(line))).toMatchObject([
    { event: 'process.warning', error: { name: 'TimeoutNegativeWarning' } },
  ]);
});

describe('pages of this machine, at any port,', () => {
  const origins = ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080', 'http://localhost'];
  const strangers = [
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example:80',
    'http://10.0.0.1:4000',
    'null',
  ];

  async function allowedFor(url: string, origin: string) {
    const { headers } = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
    return headers.get('access-control-allow-origin');
  }

  test('may read answers of the sandbox, and those of no other gateway', async () => {
    for (const origin of origins) {
      expect(await allowedFor(demo.url, origin)).toBe(origin);
      expect(await allowedFor(lab.url, origin)).toBeNull();
    }
    for (const origin of strangers) expect(await allowedFor(demo.url, origin)).toBeNull();
  });

  test('may send the headers that clients and their tracing add', async () => {
    const wanted = [
      ...[
        'authorization',
        'content-type',
        'traceparent',
        'tracestate',
        'baggage',
        'sentry-trace',
        'x-request-id',
      ],
      ...['apollographql-client-name', 'apollographql-client-version', 'apollo-require-preflight'],
      ...['x-datadog-trace-id', 'elastic-apm-traceparent', 'newrelic', 'x-of-tomorrow'],
    ];
    const { headers } = await fetch(`${demo.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:5173',
        'access-control-request-method': 'POST',
        'access-control-request-headers': wanted.join(),
      },
    });
    const allowed = headers.get('access-control-allow-headers')?.split(',') ?? [];
    expect(wanted.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test('may read the refusal of the single connection mode of graphql-sse, which begins with PUT', async () => {
    const origin = 'http://localhost:5173';
    const preflight = await fetch(`${demo.url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT' },
    });
    const refused = await fetch(`${demo.url}/graphql`, {
      method: 'PUT',
      headers: { origin, authorization: `Bearer ${gatewayKey}` },
    });

    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([405, origin]);
  });
});

test('anybody may read the schema of the sandbox', async () => {
  const response = await fetch(`${demo.url}/schema.graphql`);
  expect([response.status, (await response.text()).includes('type Query {')]).toEqual([200, true]);
});
