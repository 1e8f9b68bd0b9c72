import { randomUUID } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGateway } from '../../../gateway/gateway.ts';
import { createLog } from '../../../gateway/log.ts';
import { Connections } from '../../../gateway/service/connections.ts';
import { startHeldService } from '../../support/held-service.ts';
import { readTestConfig } from '../../support/lab.ts';
import { memory, send } from '../../support/whole-answers.ts';

const most = 64;

/** Connections with a call on each. */
function openBusy() {
  const connections = new Connections('http://service.invalid');
  for (let call = 0; call < most; call += 1) connections.beginCall();
  return connections;
}

/** Operations that wait for a connection, and the names of those that have begun. */
function startWaiting(
  connections: Connections,
  operations: readonly (readonly [caller: string, name: string])[],
) {
  const begun: string[] = [];
  for (const [caller, name] of operations) {
    void connections.waitForOne(caller)?.then(() => begun.push(name));
  }
  return begun;
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await nextRound();
}

describe('an operation', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('begins at once while a connection is free', () => {
    const connections = openBusy();
    connections.endCall();

    expect(connections.waitForOne('a')).toBeNull();
  });

  test('waits while all connections are busy, and begins when a call ends', async () => {
    const connections = openBusy();
    const begun = startWaiting(connections, [
      ['a', 'first'],
      ['a', 'second'],
    ]);
    await rounds(3);
    expect(begun).toEqual([]);

    connections.endCall();
    connections.beginCall();
    await rounds(3);

    expect(begun).toEqual(['first']);
  });

  test('that makes no call lets the next one begin', async () => {
    const connections = openBusy();
    const begun = startWaiting(connections, [
      ['a', 'first'],
      ['a', 'second'],
      ['a', 'third'],
    ]);

    connections.endCall();
    await rounds(6);

    expect(begun).toEqual(['first', 'second', 'third']);
  });

  test('of another caller is not behind all that one caller has asked for', async () => {
    const connections = openBusy();
    const begun = startWaiting(connections, [
      ['a', 'a1'],
      ['a', 'a2'],
      ['a', 'a3'],
      ['b', 'b1'],
      ['b', 'b2'],
    ]);

    connections.endCall();
    await rounds(10);

    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('begins after half a second at the latest, and leaves the others in their order', async () => {
    const connections = openBusy();
    const begun = startWaiting(connections, [['a', 'first']]);
    vi.advanceTimersByTime(300);
    const later = startWaiting(connections, [['a', 'second']]);
    vi.advanceTimersByTime(200);
    await rounds(3);
    expect([begun, later]).toEqual([['first'], []]);

    connections.endCall();
    await rounds(3);

    expect(later).toEqual(['second']);
  });
});

test('while the service answers nothing, what needs no call is answered', async () => {
  await using service = await startHeldService();
  const userId = randomUUID();
  const orders = Array.from({ length: most + 6 }, () => service.change(randomUUID(), userId).id);
  const env = {
    SERVICE_URL: service.url,
    SERVICE_TEAM_ID: service.teamId,
    RATE_LIMIT_POINTS: '0',
    ...memory,
  };
  const log = createLog({ level: 'silent' });
  await using gateway = await createGateway({ config: readTestConfig(env), log, serviceUrl: service.url });
  const { url } = await gateway.listen();
  const ask = async (query: string) => JSON.parse((await send({ url }, query)).text);
  const asked = orders.map((id) => ask(`{ order(id: "${id}") { id } }`));
  await expect.poll(() => service.held.length).toBe(most);

  const answer = await ask('{ free: __typename }');

  expect(answer).toEqual({ data: { free: 'Query' } });
  const answering = setInterval(() => service.held[0]?.answer(), 1);
  const answers = await Promise.all(asked);
  clearInterval(answering);
  expect(answers).toEqual(orders.map((id) => ({ data: { order: { id } } })));
});
