import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { program } from '../../gateway/commands/events.ts';
import type { EventLog } from '../../gateway/events/log.ts';
import { type EventStore, openEventStore } from '../../gateway/events/open.ts';
import { createLog } from '../../gateway/log.ts';
import { signedHeaders } from '../gateway/webhooks/support.ts';
import { callCommand, callProgram, runCommand, startCommand } from '../support/commands.ts';
import { openEventStream } from '../support/event-stream.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, graphqlRequest, webhookSecret } from '../support/lab.ts';
import { newMessage } from '../support/messages.ts';
import { startWorld, type World } from '../support/world.ts';

const otherTeam = '11111111-1111-4111-8111-111111111111';

const post = (url: string, id: string, body: string) =>
  fetch(`${url}/webhooks`, {
    method: 'POST',
    body,
    headers: signedHeaders(body, { id, secret: webhookSecret }),
  });

const some = (world: World, more: object = {}) =>
  JSON.stringify({
    event_type: 'some.event',
    data: { canary: 'words' },
    team_id: world.sandbox.teamId,
    ...more,
  });

test('dead letters are listed without their bodies, unless they are asked for', async () => {
  await using world = await startWorld({ SERVICE_TEAM_ID: otherTeam });
  const { url } = await world.openGateway();
  expect((await callCommand(world.env, 'dead')).said).toBe('There are no dead letters.\n');
  await post(url, 'a', some(world));
  await post(url, 'b', 'unreadable canary');
  await post(url, 'c', some(world, { team_id: otherTeam }));

  const listed = await callCommand(world.env, 'dead');
  expect(listed.code).toBe(0);
  expect(listed.lines()).toEqual([
    {
      position: expect.any(Number),
      receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      type: 'some.event',
      reason: 'other-team',
      teamId: world.sandbox.teamId,
    },
    {
      position: expect.any(Number),
      receivedAt: expect.any(String),
      type: 'unreadable',
      reason: 'unreadable',
      teamId: null,
    },
  ]);
  expect(listed.text).not.toContain('canary');
  const bodies = (await callCommand(world.env, 'dead', '--body')).lines().map(({ body }) => body);
  expect(bodies).toEqual([some(world), 'unreadable canary']);
});

test('a dead letter that no key opens any more is listed and counted, and hides no other', async () => {
  const key = (letter: string) => ({ EVENT_LOG_KEY: Buffer.alloc(32, letter).toString('base64') });
  await using world = await startWorld({ SERVICE_TEAM_ID: otherTeam, ...key('k') });
  const { url } = await world.openGateway();
  await post(url, 'a', 'unreadable');
  const rotated = { ...world.env, ...key('x') };

  const dead = await runCommand(rotated, 'dead', '--body');
  expect(dead).toMatchObject({ code: 0, said: '' });
  expect(dead.lines()).toMatchObject([{ reason: 'unreadable', sealed: true, body: null }]);
  expect((await callCommand(rotated, 'replay', '--all')).lines()).toMatchObject([
    { outcome: 'still-dead', reason: 'sealed' },
  ]);
  const verified = await callCommand(rotated, 'verify');
  expect(verified.lines()).toMatchObject([{ deadLetters: { unreadable: 1 } }]);
  expect(verified.said).toContain('No key in EVENT_LOG_KEY opens 1 of the dead letters.');
});

test('a replayed event reaches a subscriber of the running gateway, once, however often it is replayed', async () => {
  await using world = await startWorld({ SERVICE_TEAM_ID: otherTeam, RECONCILE_MINUTES: '0' });
  const { url } = await world.startGateway();
  const { orderId } = world.freshOrder();
  const query = `subscription { orderUpdates(orderId: "${orderId}") { kind event { id } } }`;
  const updates = await openEventStream({ url, token: gatewayKey, query });
  expect((await updates.next())?.data).toContain('SNAPSHOT');
  await world.step(orderId);
  await post(url, 'unreadable', 'unreadable');

  const today = { ...world.env, SERVICE_TEAM_ID: world.sandbox.teamId };
  const dead = (await callCommand(world.env, 'dead')).lines();
  const [first, second] = dead.map(({ position }) => position);
  const replayed = await runCommand(today, 'replay', '--all');
  expect(replayed.code).toBe(0);
  expect(replayed.lines()).toEqual([
    { position: first, outcome: 'replayed', newPosition: expect.any(Number) },
    { position: second, outcome: 'still-dead', reason: 'unreadable' },
  ]);
  const { newPosition } = replayed.lines()[0] ?? {};
  const update = JSON.parse((await updates.next())?.data ?? '').data.orderUpdates;
  expect(update.kind).toBe('CHANGED');

  const again = await callCommand(today, 'replay', String(first), String(second), '17');
  expect(again.code).toBe(1);
  expect(again.lines()).toEqual([
    { position: first, outcome: 'replayed-before', newPosition },
    { position: second, outcome: 'still-dead', reason: 'unreadable' },
  ]);
  expect(again.said).toBe('There is no dead letter at position 17.\n');
  expect((await callCommand(world.env, 'dead')).lines()).toHaveLength(2);
  updates.leave();
});

test('without SERVICE_TEAM_ID a replay compares a dead letter with the team that the gateway has learned', async () => {
  await using world = await startWorld();
  const { url, close } = await world.openGateway();
  await fetch(graphqlRequest(url, { query: '{ users(first: 1) { nodes { id } } }' }, gatewayKey));
  await post(url, 'foreign', some(world, { team_id: otherTeam }));
  await close();
  expect((await callCommand(world.env, 'replay', '--all')).lines()).toEqual([
    { position: expect.any(Number), outcome: 'still-dead', reason: 'other-team' },
  ]);
});

test('tail shows each new event once, without its body, and distinguishes users', async () => {
  await using world = await startWorld();
  const { url } = await world.openGateway();
  await post(url, 'a', some(world, { user_id: 'user-1' }));
  await using tail = running(world, 'tail', '--after', '0', '--user-pseudonym');
  const first = await tail.nextLine();
  await post(url, 'b', some(world, { user_id: 'user-2' }));
  await post(url, 'b', some(world, { user_id: 'user-2' }));
  await post(url, 'c', some(world, { user_id: 'user-1' }));
  const [second, third] = [await tail.nextLine(), await tail.nextLine()];

  expect([first, second, third]).toEqual(
    [first, second, third].map((line) => ({
      position: line?.position,
      receivedAt: expect.any(String),
      type: 'some.event',
      origin: 'webhook',
      user: expect.stringMatching(/^[0-9a-f]{16}$/),
    })),
  );
  expect(third?.user).toBe(first?.user);
  expect(second?.user).not.toBe(first?.user);
  expect(await tail.end()).toBe(0);

  await using bodies = running(world, 'tail', '--after', String(second?.position), '--body');
  expect(await bodies.nextLine()).toMatchObject({
    position: third?.position,
    body: some(world, { user_id: 'user-1' }),
  });
});

test('verify finds a sound log sound, and says what is in it', async () => {
  await using world = await startWorld({
    EVENT_LOG_KEY: Buffer.alloc(32, 'k').toString('base64'),
    RECONCILE_MINUTES: '0',
  });
  const { url, close } = await world.openGateway();
  const { orderId } = world.freshOrder();
  await world.step(orderId);
  await world.step(orderId);
  await post(url, 'a', some(world));
  await post(url, 'b', 'unreadable');

  const sound = await callCommand(world.env, 'verify');
  expect(sound).toMatchObject({ code: 0, said: '' });
  expect(sound.lines()).toEqual([
    {
      events: 3,
      deadLetters: { unreadable: 1 },
      from: 0,
      through: expect.any(Number),
      types: { 'labtest.order.updated': 2, 'some.event': 1 },
      faults: 0,
    },
  ]);

  const wrongKey = { ...world.env, EVENT_LOG_KEY: Buffer.alloc(32, 'x').toString('base64') };
  const sealed = await runCommand(wrongKey, 'verify');
  expect(sealed.code).toBe(1);
  expect(sealed.said).toContain('The log cannot be read after position 0: no key in EVENT_LOG_KEY opens');

  using database = new DatabaseSync(world.folder.file('events.db'), { defensive: false });
  database.exec('UPDATE subjects SET version = version - 1');
  const lowered = await callCommand(world.env, 'verify');
  expect(lowered.code).toBe(1);
  expect(lowered.said).toMatch(/^A subject is at version \d+, and an event has \d+\.\n$/);
  database.exec('UPDATE subjects SET version = version + 2');
  expect((await callCommand(world.env, 'verify')).said).toMatch(/and no event has more than \d+\.\n$/);
  database.exec('UPDATE subjects SET version = version - 1');
  expect((await callCommand(world.env, 'verify')).code).toBe(0);

  // An index that no longer fits its table: a gateway starts with it, and finds less than there is.
  await close();
  database.exec(`PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'IS NOT NULL', 'IS NULL') WHERE name = 'dead_letters'`);
  const unfit = await callCommand(world.env, 'verify');
  expect(unfit.code).toBe(1);
  expect(unfit.said).toContain('missing from index dead_letters');
});

test('verify finds no fault in a log whose oldest events are pruned while it reads', async () => {
  using folder = makeFolder();
  const openStore = (access: 'exclusive' | 'shared') =>
    openEventStore(
      { kind: 'sqlite', path: folder.file('events.db') },
      { keys: [], log: createLog({ level: 'silent' }), access },
    );
  const { log } = await openStore('exclusive');
  const appendAll = (id: string, receivedAt: Date) =>
    Promise.all(
      Array.from({ length: 550 }, (_, version) =>
        log.append(newMessage(`${id} ${version}`, { subject: { id, version }, receivedAt })),
      ),
    );
  const from = (await appendAll('old', new Date(0))).at(-1)?.position;
  const through = (await appendAll('young', new Date())).at(-1)?.position;
  /** The command's log, where a prune follows each read. */
  const pruned = (store: EventStore) => {
    const read: EventLog['read'] = async (scope, after, limit) => {
      const answer = await store.log.read(scope, after, limit);
      await log.prune(new Date(1));
      return answer;
    };
    const get = (_: EventLog, name: keyof EventLog) =>
      name === 'read' ? read : store.log[name].bind(store.log);
    return { ...store, log: new Proxy(store.log, { get }) };
  };
  const open = async () => pruned(await openStore('shared'));

  const verified = await callProgram({ ...program, open }, {}, ['verify']);
  await log.close();

  expect(verified).toMatchObject({ code: 0, said: '' });
  const types = { 'labtest.order.updated': 1050 };
  expect(verified.lines()).toEqual([{ events: 1050, deadLetters: {}, from, through, types, faults: 0 }]);
});

test('the usage is printed on request and after a wrong call', async () => {
  using folder = makeFolder();
  const env = { EVENT_LOG: `sqlite:${folder.file('none.db')}` };
  const asked = await runCommand(env, '--help');
  expect(asked).toMatchObject({ code: 0, said: '' });
  for (const name of ['dead', 'replay', 'tail', 'verify']) expect(asked.text).toContain(`\n  ${name}`);
  expect(await callCommand(env)).toMatchObject({ code: 2, said: asked.text });
  expect(await callCommand(env, 'revive')).toMatchObject({ code: 2, said: asked.text });
  expect(await callCommand(env, 'dead', '--all')).toMatchObject({
    code: 2,
    said: 'BAD_USER_INPUT: That is not how it is called. See --help.\n',
  });
  expect(await callCommand(env, 'verify')).toMatchObject({
    code: 1,
    said: `EVENT_LOG_UNAVAILABLE: There is no event log at ${folder.file('none.db')}.\n`,
  });
  expect((await callCommand({ EVENT_LOG: 'memory:' }, 'dead')).said).toContain('out of reach');
});

function running(world: World, ...args: readonly string[]) {
  const command = startCommand(world.env, ...args);
  return { ...command, [Symbol.asyncDispose]: async () => void (await command.end()) };
}
