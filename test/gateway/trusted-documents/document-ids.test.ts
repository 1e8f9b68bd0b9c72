import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, graphqlRequest, type Lab, startLab } from '../../support/lab.ts';
import { openSocket } from '../../support/socket.ts';
import type { ExecutionResult } from '../../support/subscribe.ts';

const folder = makeFolder();
const idOf = (document: string) => createHash('sha256').update(document).digest('hex');
const kind = '{ viewer { kind } }';
const named = 'query ($id: ID!) { user(id: $id) { id } }';
const revoke = 'mutation { revokeViewerTokens(input: { jti: "nobody" }) { revokedAt } }';
const follow = 'subscription ($id: ID!) { userOrderUpdates(userId: $id) { __typename } }';
const unlisted = '{ viewer { scopes } }';
/** As compilers put the parts of a page together: 1,500 tokens. */
const parts = Array.from({ length: 60 }, (_, part) => `Part${part}`);
const page = `query Page($id: ID!) { user(id: $id) { ${parts.map((part) => `...${part}`).join(' ')} } }
${parts.map((part) => `fragment ${part} on User { id clientUserId orders(first: 1) { nodes { id } } }`).join('\n')}`;

let lab: Lab;
let token = '';
let userId = '';

beforeAll(async () => {
  const file = folder.file('operations.json');
  const listed = [kind, named, revoke, follow, page].map((document) => [idOf(document), document]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(listed)));
  lab = await startLab({
    env: { EVENT_LOG: 'memory:', PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: file },
  });
  userId = lab.sandbox.users()[0]?.userId ?? '';
  token = await lab.tokenFor(userId);
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Sent {
  readonly query?: string;
  readonly documentId?: string;
  readonly extensions?: Record<string, unknown>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const apollo = (id: string): Sent => ({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } });

async function post(sent: object, bearer = token): Promise<ExecutionResult & { readonly status: number }> {
  const response = await lab.gateway.fetch(graphqlRequest(lab.url, sent, bearer));
  return { ...(await response.json()), status: response.status };
}

function getRequest({ extensions, variables, ...texts }: Sent): Request {
  const parameters = new URLSearchParams({ ...texts });
  if (extensions !== undefined) parameters.set('extensions', JSON.stringify(extensions));
  if (variables !== undefined) parameters.set('variables', JSON.stringify(variables));
  const headers = { authorization: `Bearer ${token}` };
  return new Request(`${lab.url}/graphql?${parameters}`, { headers });
}

async function get(sent: Sent): Promise<ExecutionResult & { readonly status: number }> {
  const response = await lab.gateway.fetch(getRequest(sent));
  return { ...(await response.json()), status: response.status };
}

async function send(sent: Sent): Promise<ExecutionResult> {
  const { client } = openSocket(lab, token);
  const results = client.iterate({ query: '', ...sent });
  try {
    return (await results.next()).value as ExecutionResult;
  } catch (errors) {
    return { errors: errors as readonly unknown[] };
  } finally {
    await client.dispose();
  }
}

const codeOf = ({ errors }: ExecutionResult): unknown => errors?.[0].extensions.code;

describe.each([
  ['POST', post],
  ['GET', get],
  ['WebSocket', send],
])('over %s', (_name, ask: (sent: Sent) => Promise<ExecutionResult>) => {
  test.each<readonly [string, (id: string) => Sent]>([
    ['Apollo’s persisted queries', apollo],
    ['a document id', (id) => ({ documentId: `sha256:${id}` })],
    ['a document id without a prefix', (id) => ({ documentId: id })],
  ])('a listed operation is asked for without its text, by %s', async (_form, by) => {
    expect(await ask({ ...by(idOf(named)), variables: { id: userId } })).toMatchObject({
      data: { user: { id: userId } },
    });
  });

  test('an id that is on no list is refused, and no caller can register it', async () => {
    const refusal = (message: string) => [{ message, extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }];
    const answer = await ask(apollo(idOf(unlisted)));
    // urql and Apollo's native clients read the message.
    expect(answer.errors).toEqual(refusal('PersistedQueryNotFound'));
    expect((await ask({ documentId: idOf(unlisted) })).errors).toEqual(
      refusal('No operation has this id on the list of this gateway.'),
    );
    // What Apollo's clients do next, and what would plant an operation for others.
    expect(codeOf(await ask({ ...apollo(idOf(unlisted)), query: unlisted }))).toBe('OPERATION_NOT_LISTED');
    expect(codeOf(await ask({ ...apollo(idOf(kind)), query: unlisted }))).toBe('OPERATION_NOT_LISTED');
    expect(codeOf(await ask(apollo(idOf(unlisted))))).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(await ask(apollo(idOf(kind)))).toEqual(
      expect.objectContaining({ data: { viewer: { kind: 'USER' } } }),
    );
  });

  test.each<readonly [string, object]>([
    ['a number', { extensions: { persistedQuery: { version: 1, sha256Hash: 7 } } }],
    ['a record', { extensions: { persistedQuery: [{}] } }],
    ['nothing', { extensions: { persistedQuery: null } }],
    ['a name of every object', { documentId: '__proto__' }],
  ])('%s is no id', async (_what, sent) => {
    // Over a socket an empty text is sent beside it, which no list has.
    expect(codeOf(await ask(sent))).toMatch(/^(BAD_REQUEST|OPERATION_NOT_LISTED|PERSISTED_QUERY_NOT_FOUND)$/);
  });
});

test('the status of an unknown id is 404, and of a listed one 200', async () => {
  expect((await post(apollo(idOf(unlisted)))).status).toBe(404);
  expect((await post(apollo(idOf(kind)))).status).toBe(200);
});

test('an id changes nothing with GET, and allows no scope', async () => {
  expect((await get(apollo(idOf(revoke)))).status).toBe(405);
  expect(codeOf(await post(apollo(idOf(revoke))))).toBe('FORBIDDEN');
});

test('an EventSource follows by an id', async () => {
  const request = getRequest({ documentId: `sha256:${idOf(follow)}`, variables: { id: userId } });
  request.headers.set('accept', 'text/event-stream');
  const stopping = new AbortController();
  const response = await lab.gateway.fetch(new Request(request, { signal: stopping.signal }));
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  stopping.abort();
});

test('servers of the team may ask by the same ids', async () => {
  expect(await post(apollo(idOf(kind)), gatewayKey)).toMatchObject({ data: { viewer: { kind: 'TEAM' } } });
});

test('without a list no id is known', async () => {
  await using other = await startLab({ env: { EVENT_LOG: 'memory:', PERSISTED_OPERATIONS: 'off' } });
  const response = await other.gateway.fetch(graphqlRequest(other.url, apollo(idOf(kind)), gatewayKey));
  expect(response.status).toBe(404);
  expect((await response.json()).errors).toEqual([
    { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } },
  ]);
});

test('a document on the list may be longer than others', async () => {
  const sent = { documentId: idOf(page), variables: { id: userId } };
  const longer = { query: `${page} fragment Other on User { id }`, variables: { id: userId } };

  expect((await post(sent)).data?.user).toMatchObject({ id: userId });
  expect((await post(longer, gatewayKey)).errors).toMatchObject([
    { message: 'Syntax Error: The document has more than 1000 tokens.' },
  ]);
});
