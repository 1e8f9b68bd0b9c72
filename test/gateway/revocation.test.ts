import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ActiveCredentials, openRevocations } from '../../gateway/auth/revocations.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { knock } from '../support/knock.ts';
import { type Lab, readTestConfig, startLab } from '../support/lab.ts';
import { replaceMembers } from '../support/members.ts';
import { openMemoryStore } from '../support/memory-store.ts';
import { startRedis } from '../support/redis.ts';
import { openSocket } from '../support/socket.ts';
import { subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { startWorld } from '../support/world.ts';

const revoke = `mutation ($input: RevokeViewerTokensInput!) {
  revokeViewerTokens(input: $input) { revokedAt }
}`;
const updates = 'subscription ($id: ID!) { userOrderUpdates(userId: $id) { kind } }';
const create = `mutation ($input: CreateViewerTokenInput!) {
  createViewerToken(input: $input) { token jti }
}`;

type Asker = Pick<Lab, 'query'>;

async function revokeAt(gateway: Asker, input: object): Promise<Date> {
  const answer = await gateway.query(revoke, { variables: { input } });
  expect(answer.errors).toBeUndefined();
  return new Date(answer.data.revokeViewerTokens.revokedAt);
}

async function mint(
  gateway: Asker,
  userId: string,
): Promise<{ readonly token: string; readonly jti: string }> {
  return (await gateway.query(create, { variables: { input: { userId } } })).data.createViewerToken;
}

function usersOf(lab: Pick<Lab, 'sandbox'>): readonly [string, string] {
  const [first, second] = lab.sandbox.users();
  return [first?.userId ?? '', second?.userId ?? ''];
}

/** Whether a token is let in; HTTP and WebSocket always agree. */
async function isIn(gateway: Pick<Lab, 'url'>, token: string): Promise<boolean> {
  const { status, closed } = await knock(gateway, token);
  expect(status).toBe(closed === null ? 200 : 401);
  return closed === null;
}

describe('a server of the team takes back', () => {
  test('one token by its jti, and no other of its user', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [userId] = usersOf(lab);
    const [bad, good] = [await mint(lab, userId), await mint(lab, userId)];
    await revokeAt(lab, { jti: bad.jti });
    expect(await knock(lab, bad.token)).toEqual({ ...(await knock(lab, 'a.b.c')), closed: 4403 });
    expect(await isIn(lab, good.token)).toBe(true);
  });

  test('all tokens of a user, none of another, and none that is made later', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [mine, theirs] = usersOf(lab);
    const before = await Promise.all([mint(lab, mine), mint(lab, mine), mint(lab, theirs)]);
    const revokedAt = await revokeAt(lab, { userId: mine.toUpperCase() });
    const after = await mint(lab, mine);
    const letIn = await Promise.all([...before, after].map(({ token }) => isIn(lab, token)));
    expect(letIn).toEqual([false, false, true, true]);
    expect(Math.abs(Date.now() - revokedAt.getTime())).toBeLessThan(60_000);
  });

  test('tokens of an identity provider in the same ways', async () => {
    await using provider = await startIdentityProvider();
    await using lab = await startLab({ eventLog: 'sqlite', env: provider.env });
    const [mine, theirs] = usersOf(lab);
    const ofMine = await provider.tokenFor(mine);
    const named = await provider.tokenFor(theirs, { jti: 'session-7' });
    await revokeAt(lab, { userId: mine, jti: 'session-7' });
    expect([await isIn(lab, ofMine), await isIn(lab, named)]).toEqual([false, false]);
    expect(await isIn(lab, await provider.tokenFor(theirs))).toBe(true);
  });

  test('and nobody else does: not a viewer, not for themselves', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [userId] = usersOf(lab);
    const { token } = await mint(lab, userId);
    const answer = await lab.query(revoke, { token, variables: { input: { userId } } });
    expect(answer.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    expect(await isIn(lab, token)).toBe(true);
  });

  test.each([[{}], [{ userId: '7' }], [{ jti: 'x'.repeat(257) }], [{ userId: null, jti: null }]])(
    'nothing with the input %j',
    async (input) => {
      await using lab = await startLab({ eventLog: 'sqlite' });
      const answer = await lab.query(revoke, { variables: { input } });
      expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    },
  );

  test('and the log says with which key, and not whose tokens', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [userId] = usersOf(lab);
    await revokeAt(lab, { userId, jti: 'canary-jti' });
    const line = lab.logged
      .map((text) => JSON.parse(text))
      .find(({ event }) => event === 'viewer_tokens.revoked');
    expect(line.caller).toMatch(/^key-[0-9a-f]{8}$/);
    expect(lab.logged.join('')).not.toContain(userId);
    expect(lab.logged.join('')).not.toContain('canary');
  });
});

describe('what uses a token when it is revoked ends', () => {
  test('a socket with 4403, and a socket of another user stays', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [mine, theirs] = usersOf(lab);
    const [revoked, other] = [await lab.tokenFor(mine), await lab.tokenFor(theirs)].map((token) =>
      openSocket(lab, token),
    );
    await Promise.all([revoked, other].map((socket) => socket?.ask('{ viewer { kind } }')));
    await revokeAt(lab, { userId: mine });
    expect(await revoked?.closed).toBe(4403);
    expect((await other?.ask('{ viewer { kind } }'))?.data).toEqual({ viewer: { kind: 'USER' } });
    await other?.client.dispose();
  });

  test('a stream over SSE', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [userId] = usersOf(lab);
    const token = await lab.tokenFor(userId);
    const stream = await subscribeOverSse({ url: lab.url, token, query: updates, variables: { id: userId } });
    await revokeAt(lab, { userId });
    for (let item = await stream.next(); item !== null; item = await stream.next()) {
      expect(item.errors).toBeUndefined();
    }
  });

  test('a subscription over WebSocket', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [userId] = usersOf(lab);
    const { token, jti } = await mint(lab, userId);
    const order = lab.sandbox.orders().find((each) => each.userId === userId);
    const stream = await subscribeOverWebSocket({
      ...{ url: lab.url, token, variables: { id: order?.orderId } },
      query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind } }',
    });
    expect((await stream.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
    await revokeAt(lab, { jti });
    await expect(stream.next()).rejects.toMatchObject({ code: 4403 });
  });

  test('a document ticket, which opens nothing more', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const order = lab.sandbox.orders().find(({ status }) => status.startsWith('completed.'));
    const token = await lab.tokenFor(order?.userId ?? '', { scopes: ['read:orders', 'read:results'] });
    const answer = await lab.query(
      `mutation ($id: ID!) { createDocumentTicket(input: { orderId: $id, kind: RESULT }) {
        __typename ... on DocumentTicket { url } } }`,
      { token, variables: { id: order?.orderId } },
    );
    const { url } = answer.data.createDocumentTicket;
    await revokeAt(lab, { userId: order?.userId });
    expect((await fetch(new URL(url, lab.url))).status).toBe(404);
  });
});

describe('a revocation is stored', () => {
  test('so it survives a kill -9 of the gateway that accepted it', async () => {
    await using world = await startWorld();
    const first = await world.startGateway();
    const userId = world.sandbox.users()[0]?.userId ?? '';
    const there = askAt(first.url);
    const [revoked, other] = [await mint(there, userId), await mint(there, usersOf(world)[1])];
    await revokeAt(there, { userId });
    await first.end('SIGKILL');
    const second = await world.startGateway();
    expect([await isIn(second, revoked.token), await isIn(second, other.token)]).toEqual([false, true]);
  });

  test('for as long as a token could live that it concerns, and no longer', async () => {
    const { log } = await openMemoryStore();
    const at = (ms: number) => new Date(Date.now() - ms).toISOString();
    const userId = crypto.randomUUID();
    await log.writeMark('revoked old', JSON.stringify({ userId, tokenId: null, at: at(16 * 60_000 + 1) }));
    await log.writeMark('revoked new', JSON.stringify({ userId, tokenId: null, at: at(15 * 60_000) }));
    await log.writeMark('revoked by a later version', '{}');
    const lives = new ActiveCredentials();
    const revocations = await openRevocations(log, lives);
    revocations.close();
    expect([...(await log.readMarks('revoked')).keys()]).toEqual(['revoked new']);
    const caller = {
      kind: 'USER',
      userId,
      orderIds: null,
      scopes: [],
      origins: null,
      tokenId: null,
    } as const;
    const expiresAt = new Date(Date.now() + 60_000);
    const isRevoked = (issuedMsAgo: number) =>
      lives.isRevoked({ ...caller, issuedAt: new Date(Date.now() - issuedMsAgo), expiresAt });
    expect([isRevoked(15 * 60_000 + 1000), isRevoked(14 * 60_000)]).toEqual([true, false]);
  });
});

test('a revocation that cannot be dropped does not hide any other', async () => {
  const { log } = await openMemoryStore();
  const userId = crypto.randomUUID();
  await log.writeMark('revoked a', '{}');
  await log.writeMark('revoked b', JSON.stringify({ userId, tokenId: null, at: new Date() }));
  const lives = new ActiveCredentials();
  const full = replaceMembers(log, { dropMark: () => Promise.reject(new Error('The disk is full.')) });
  (await openRevocations(full, lives)).close();
  const caller = { kind: 'USER', userId, orderIds: null, scopes: [], origins: null, tokenId: null } as const;
  const [issuedAt, expiresAt] = [new Date(Date.now() - 1000), new Date(Date.now() + 60_000)];
  expect(lives.isRevoked({ ...caller, issuedAt, expiresAt })).toBe(true);
});

test('a token that expired while the machine slept is ended within a second, although its timer slept too', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const socket = openSocket(lab, await lab.tokenFor(usersOf(lab)[0]));
  await socket.ask('{ viewer { kind } }');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await socket.closed).toBe(4403);
});

describe('several gateways over one Redis', () => {
  test('share revocations: tokens are refused and sockets close at all of them', async () => {
    await using server = await startRedis();
    const env = { EVENT_LOG: server.newUrl(), EVENT_LOG_KEY: randomBytes(32).toString('base64') };
    await using lab = await startLab({ env });
    const config = readTestConfig({ SERVICE_URL: lab.serviceUrl, ...env });
    await using other = await createGateway({
      ...{ config, log: createLog({ level: 'silent' }) },
      serviceUrl: lab.serviceUrl,
    });
    const there = await other.listen();
    const [mine, theirs] = usersOf(lab);
    const [revoked, good] = [await lab.tokenFor(mine), await lab.tokenFor(theirs)];
    const [socket, goodSocket] = [openSocket(there, revoked), openSocket(there, good)];
    await Promise.all([socket, goodSocket].map(({ ask }) => ask('{ viewer { kind } }')));

    await revokeAt(lab, { userId: mine });

    expect(await socket.closed).toBe(4403);
    expect(await isIn(there, revoked)).toBe(false);
    expect((await goodSocket.ask('{ viewer { kind } }')).data).toEqual({ viewer: { kind: 'USER' } });
    await goodSocket.client.dispose();
  });

  test('remember their revocations while Redis is away, and report that nothing more can be revoked', async () => {
    await using server = await startRedis();
    const env = { EVENT_LOG: server.newUrl(), EVENT_LOG_KEY: randomBytes(32).toString('base64') };
    await using lab = await startLab({ env });
    const [mine, theirs] = usersOf(lab);
    const [revoked, good] = [await lab.tokenFor(mine), await lab.tokenFor(theirs)];
    await revokeAt(lab, { userId: mine });
    await server.kill();
    const answer = await lab.query(revoke, { variables: { input: { userId: theirs } } });
    expect(answer.errors?.[0]?.extensions.code).toBe('EVENT_LOG_UNAVAILABLE');
    expect([await isIn(lab, revoked), await isIn(lab, good)]).toEqual([false, true]);
  });
});

/** A gateway in another process, asked as a server of the team. */
function askAt(url: string): Asker {
  return {
    query: async (query, { variables, token = 'test-gateway-key' } = {}) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const body = JSON.stringify({ query, variables });
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
      return { ...(await response.json()), status: response.status };
    },
  };
}
