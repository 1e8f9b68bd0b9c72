import { readFileSync } from 'node:fs';
import { EventSource } from 'eventsource';
import { isObjectType } from 'graphql';
import { createClient } from 'graphql-sse';
import { beforeAll, expect, test, vi } from 'vitest';
import { createLabgraphClient } from '../../client/src/client.ts';
import { schema } from '../../gateway/domain/schema.ts';
import type { GapReason } from '../../gateway/events/log.ts';
import { type Lab, startLab } from '../support/lab.ts';

const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
/** The examples as they are written, without their imports. test/clients tries the third, with fetch-event-source. */
const [withClient = '', withEventSource = '', , withGraphqlSse = ''] = [
  ...text.matchAll(/^```js\n(.*?)^```/gms),
].map(([, code = '']) => code.replace(/^import .*\n/m, ''));

interface Shown {
  readonly status: { readonly label: string };
}

/** What the page around an example has. */
function surround(lab: Lab) {
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  const fetchViewerToken = () => lab.tokenFor(order.userId);
  const simulate = async () => {
    await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', {
      variables: { id: order.orderId },
    });
    await lab.sandbox.webhooks.settled();
  };
  return {
    orderId: order.orderId,
    fetchViewerToken,
    userId: order.userId,
    simulate,
    show: vi.fn<(order: Shown) => void>(),
  };
}

/** The example's text as a function of what it takes from around it. */
function load(code: string, around: Readonly<Record<string, unknown>>, wanted: string): unknown {
  const names = Object.keys(around);
  return new Function(...names, `${code}\nreturn ${wanted};`)(...names.map((name) => around[name]));
}

beforeAll(() => expect([withClient, withEventSource, withGraphqlSse]).not.toContain(''));

test('the example with the client shows each change, and goes on with its cursor when its socket is closed', async () => {
  await using lab = await startLab();
  const { orderId, simulate, ...around } = surround(lab);
  const code = withClient.replace('https://gateway.example', lab.url);
  const sockets: WebSocket[] = [];
  class Noted extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  const createNoted: typeof createLabgraphClient = (options) =>
    createLabgraphClient({ ...options, webSocketImpl: Noted });
  const follow = load(code, { ...around, createLabgraphClient: createNoted }, 'follow') as (
    orderId: string,
  ) => Promise<void>;
  const following = follow(orderId);
  await expect.poll(() => around.show.mock.calls.length).toBe(1);
  sockets[0]?.close();
  await simulate();
  await expect.poll(() => around.show.mock.calls.length).toBe(2);
  const labels = around.show.mock.calls.map(([order]) => order.status.label);
  expect(new Set(labels).size).toBe(2);
  await expect(follow(crypto.randomUUID())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  void following.catch(() => undefined);
});

test('the example with EventSource shows each change, and comes back with a new token and Last-Event-ID', async () => {
  await using lab = await startLab();
  const { orderId, userId, simulate, ...around } = surround(lab);
  const report = vi.fn<(errors: unknown) => void>();
  const asked: Headers[] = [];
  const fetchNoted: typeof fetch = (url, init) => {
    asked.push(new Headers(init?.headers));
    return fetch(url, init);
  };
  const page = { ...around, orderId, report, showOffline: () => {}, EventSource, fetch: fetchNoted };
  const source = load(
    withEventSource.replace('https://gateway.example', lab.url),
    page,
    'source',
  ) as EventSource;
  await expect.poll(() => around.show.mock.calls.length).toBe(1);
  await lab.query('mutation ($id: ID!) { revokeViewerTokens(input: { userId: $id }) { revokedAt } }', {
    variables: { id: userId },
  });
  await simulate();
  await expect.poll(() => around.show.mock.calls.length).toBe(2);
  source.close();
  expect(report).not.toHaveBeenCalled();
  const [before, after] = [asked.at(0), asked.at(-1)];
  expect(before?.get('last-event-id')).toBeNull();
  expect(after?.get('last-event-id')).toEqual(expect.any(String));
  expect(after?.get('authorization')).not.toBe(before?.get('authorization'));
});

test('the example with graphql-sse shows each change, also after ten tokens have ended without a change', async () => {
  await using lab = await startLab();
  const { orderId, userId, simulate, ...around } = surround(lab);
  const report = vi.fn<(errors: unknown) => void>();
  const [pauses, retried]: [number[], boolean[]] = [[], []];
  const page = {
    ...around,
    orderId,
    report,
    createClient: (options: Parameters<typeof createClient>[0]) =>
      createClient({ ...options, on: { connected: (isRetry) => void retried.push(isRetry) } }),
    setTimeout: (resume: () => void, pauseMs: number) => {
      pauses.push(pauseMs);
      setImmediate(resume);
    },
  };
  const leave = load(withGraphqlSse.replace('https://gateway.example', lab.url), page, 'leave') as () => void;
  await expect.poll(() => around.show.mock.calls.length).toBe(1);

  for (let ends = 1; ends <= 10; ends += 1) {
    await lab.query('mutation ($id: ID!) { revokeViewerTokens(input: { userId: $id }) { revokedAt } }', {
      variables: { id: userId },
    });
    await expect.poll(() => retried.length).toBe(ends + 1);
  }
  await simulate();

  await expect.poll(() => around.show.mock.calls.length).toBe(2);
  leave();
  expect(report).not.toHaveBeenCalled();
  expect(Math.max(...pauses)).toBeLessThanOrEqual(3000);
});

test('the graph and the runbook name every reason for which the history is gone', () => {
  const reasons: Readonly<Record<GapReason, true>> = {
    pruned: true,
    'beyond-end': true,
    'other-epoch': true,
    sealed: true,
  };
  const reset = schema.getType('StreamReset');
  const description = isObjectType(reset) ? reset.getFields().reason?.description : null;
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const reason of Object.keys(reasons)) {
    expect(description).toContain(reason);
    expect(operations).toContain(`\`${reason}\``);
  }
});
