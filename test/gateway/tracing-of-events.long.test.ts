import { expect, test } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { openEventStream } from '../support/event-stream.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, webhookSecret } from '../support/lab.ts';
import { startRedis } from '../support/redis.ts';
import { startGateway, startService, traceId, traceparent } from '../support/traced.ts';
import { orderEvent, signedHeaders } from './webhooks/support.ts';

test('an item has a link to its webhook, at another gateway over Redis and after a restart', async () => {
  await using collector = await startCollector();
  await using redis = await startRedis();
  await using service = await startService();
  const { sandbox, url } = service;
  const env = { EVENT_LOG: redis.newUrl(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const start = (name: string) => startGateway(url, { ...env, OTEL_SERVICE_NAME: name });
  await using receiver = await start('receiver');
  await using first = await start('subscriber');
  const post = async (id: string) => {
    const body = orderEvent({ team_id: sandbox.teamId });
    const headers = { ...signedHeaders(body, { id, age: 0, secret: webhookSecret }), traceparent };
    expect((await fetch(`${receiver.url}/webhooks`, { method: 'POST', headers, body })).status).toBe(202);
  };
  const subscription = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
  const open = (gateway: GatewayProcess, after?: string) =>
    openEventStream({ url: gateway.url, token: gatewayKey, query: subscription, variables: { after } });

  const stream = await open(first);
  await expect.poll(async () => await readSubscriptions(first.url)).toBe(1);
  await post('one');
  const cursor = (await stream.next())?.id;
  stream.leave();
  expect(await first.end('SIGTERM')).toBe(0);
  await post('two');
  await using second = await start('subscriber-again');
  const resumed = await open(second, cursor);
  await resumed.next();
  resumed.leave();
  expect(await second.end('SIGTERM')).toBe(0);
  expect(await receiver.end('SIGTERM')).toBe(0);

  const appends = collector.spans.filter(({ name }) => name === 'append events');
  expect(appends.map(({ service, traceId: id, kind }) => [service, id, kind])).toEqual([
    ['receiver', traceId, 4],
    ['receiver', traceId, 4],
  ]);
  const items = collector.spans.filter(({ name }) => name === 'item');
  expect(items.map(({ service, links }) => [service, links])).toEqual([
    ['subscriber', [appends[0]?.spanId]],
    ['subscriber-again', [appends[1]?.spanId]],
  ]);
  const opened = collector.spans.filter(({ name }) => name === 'subscription').map(({ spanId }) => spanId);
  expect(items.map(({ parentSpanId }) => parentSpanId)).toEqual(opened);
});

async function readSubscriptions(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^labgraph_subscriptions\{transport="sse"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
