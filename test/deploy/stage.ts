import { setTimeout } from 'node:timers/promises';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, serviceKey, webhookSecret } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { Followers, Following } from './followers.ts';
import { Load } from './load.ts';

/** Two gateways over one Redis and a sandbox, whose webhooks go to the port of a proxy that a test starts. */
export interface Stage extends AsyncDisposable {
  readonly folder: string;
  /** For the proxy. */
  readonly port: number;
  readonly redis: RedisServer;
  readonly sandbox: Sandbox;
  readonly gateways: GatewayProcess[];
  /** Starts a gateway again where one has ended. */
  readonly restart: (index: number) => Promise<void>;
  /** Orders with four steps before them. */
  readonly freshOrders: () => readonly string[];
  /** Followers of the first fresh orders. */
  readonly follow: (url: string, count: { readonly orders: number; readonly each: number }) => Following;
  /** Sends 200 queries a second. */
  readonly load: (url: string) => Load;
  /** Takes orders one step further; their webhooks are sent. */
  readonly step: (orderIds: readonly string[]) => Promise<void>;
}

export async function startStage(): Promise<Stage> {
  const folder = makeFolder();
  const redis = await startRedis();
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  const service = (await sandbox.listen({ host: '127.0.0.1', port: 0 })).url;
  const port = await findFreePort();
  sandbox.webhooks.register(`http://127.0.0.1:${port}/webhooks`);
  const start = async (at = '0') => {
    const gateway = await startGatewayProcess(folder.path, {
      ...{ PORT: at, DRAIN_SECONDS: '1', RATE_LIMIT_POINTS: '1000000', LOG_LEVEL: 'warn' },
      ...{ SERVICE_URL: service, SERVICE_API_KEY: serviceKey, WEBHOOK_SECRETS: webhookSecret },
      ...{ GATEWAY_API_KEYS: gatewayKey, EVENT_LOG: `redis://127.0.0.1:${redis.port}/0` },
      VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
      RECONCILE_MINUTES: '0',
    });
    // Caddy asks at its start, and then every two seconds.
    while (!(await fetch(`${gateway.url}/ready`)).ok) await setTimeout(50);
    return gateway;
  };
  const gateways = [await start(), await start()];
  const fresh = /^received\.(walk_in_test|at_home_phlebotomy)\.(ordered|requis)/;
  const freshOrders = () =>
    sandbox.orders().flatMap(({ orderId, status }) => (fresh.test(status) ? [orderId] : []));
  return {
    ...{ folder: folder.path, port, redis, sandbox, gateways },
    restart: async (index) => {
      gateways[index] = await start(new URL(gateways[index]?.url ?? '').port);
    },
    freshOrders,
    follow: (url, { orders, each }) =>
      new Following(
        freshOrders()
          .slice(0, orders)
          .map((orderId) => new Followers(url, { orderId, count: each })),
      ),
    load: (url) =>
      new Load(
        url,
        sandbox.orders().map(({ orderId }) => `{ order(id: "${orderId}") { id status { raw } } }`),
      ),
    step: async (orderIds) => {
      const headers = { 'x-service-api-key': serviceKey };
      for (const orderId of orderIds)
        await fetch(`${service}/v3/order/${orderId}/test`, { method: 'POST', headers });
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
      await sandbox.close();
      await redis[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
