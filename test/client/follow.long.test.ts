import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLabgraphClient } from '../../client/src/client.ts';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { makeSecrets, prepareGateways, type Secrets } from '../support/fleet.ts';
import { makeFolder } from '../support/folder.ts';
import { startService } from '../support/order-service.ts';
import { createWorld, planWorld, type World } from '../support/order-world.ts';
import { createWebhookPost } from '../support/post-webhook.ts';
import { Follower, transports } from './follower.ts';

const kills = 100;
/** A token ends before each fifth kill. */
const killsPerTokenEnd = 5;

/** A status is 0 if there was no answer. */
const isAcknowledged = (status: number) => status >= 200 && status < 300;

/** Reports changes of the one order until each is acknowledged, like the real sender. */
function createReporter(world: World, { webhookSecret }: Secrets, url: string) {
  const [order] = world.orders;
  if (order === undefined) throw new Error('The world has no order.');
  const post = createWebhookPost({ address: () => url, agent: new Agent(), timeoutMs: 5000 });
  const expected: string[] = [];
  return {
    order,
    /** The ids of the events that every follower must be shown. */
    expected,
    report: async () => {
      const version = world.advance(order);
      const message = world.report(order, version);
      expected.push(String(version));
      while (!isAcknowledged(await post(message, webhookSecret))) await wait(50);
    },
  };
}

test('over 100 kills and 20 ends of tokens a follower misses and repeats nothing, and requests one token for each end', async () => {
  using folder = makeFolder();
  const world = createWorld(planWorld({ users: 1, ordersPerUser: 1 }));
  const service = await startService(world);
  const secrets = makeSecrets();
  const around = {
    folder: folder.path,
    teamId: world.teamId,
    secrets,
    service: service.url,
    redis: undefined,
  };
  const [gateway] = await prepareGateways(around);
  if (gateway === undefined) throw new Error('There is no gateway.');
  await gateway.start();
  const { order, expected, report } = createReporter(world, secrets, gateway.url);
  const url = `${gateway.url}/graphql`;
  const team = createLabgraphClient({ url, token: secrets.gatewayKey });
  const { mint } = createViewerTokens({ secrets: [secrets.viewerTokenSecret], provider: null });
  const wish = {
    userId: order.userId,
    scopes: ['read:orders'],
    ttlSeconds: 900,
    orderIds: null,
    origins: null,
  };
  const followers = transports.map((transport) => {
    const token = vi.fn(async (_reason: string) => (await mint({ ...wish, scopes: ['read:orders'] })).token);
    return {
      transport,
      token,
      follower: new Follower(createLabgraphClient({ url, token }), order.id, transport),
    };
  });
  await Promise.all(followers.map(({ follower }) => follower.takeOne()));
  const reading = Promise.all(
    followers.map(({ follower }) => follower.takeUntil(2 * kills + kills / killsPerTokenEnd)),
  );
  const caughtUp = () =>
    expect
      .poll(() => followers.map(({ follower }) => follower.eventIds.length))
      .toEqual(followers.map(() => expected.length));

  for (let kill = 1; kill <= kills; kill += 1) {
    await report();
    if (kill % killsPerTokenEnd === 0) {
      await caughtUp();
      await team.mutate('mutation ($id: ID!) { revokeViewerTokens(input: { userId: $id }) { revokedAt } }', {
        id: order.userId,
      });
      await report();
    }
    await gateway.end('SIGKILL');
    const reported = report();
    await gateway.start();
    await reported;
  }
  await reading;

  for (const { transport, token, follower } of followers) {
    expect([transport, follower.eventIds]).toEqual([transport, expected]);
    expect(follower.kinds).toEqual(['SNAPSHOT', ...expected.map(() => 'CHANGED')]);
    expect(token.mock.calls.length).toBeLessThanOrEqual(1 + kills / killsPerTokenEnd);
    await follower.leave();
  }
  await gateway.end('SIGTERM');
  service.close();
}, 3_600_000);
