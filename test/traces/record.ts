import { orderEvent, signedHeaders } from '../gateway/webhooks/support.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey, webhookSecret } from '../support/lab.ts';
import { startRedis } from '../support/redis.ts';
import { startGateway, startService } from '../support/traced.ts';

/** The traces that docs/observability.md shows, by the name of their place there. */
export const recordings = [
  { name: 'recorded of a query', record: recordQuery },
  { name: 'recorded of a webhook', record: recordWebhook },
] as const;

const nested = '{ users(first: 20) { nodes { id orders(first: 20) { nodes { id } } } } }';

/**
 * The trace of a query for 20 users and their orders.
 * @param warmUps requests before the one that is recorded, so that its code is compiled
 */
async function recordQuery(warmUps: number): Promise<readonly CollectedSpan[]> {
  await using collector = await startCollector();
  await using service = await startService();
  await using gateway = await startGateway(service.url, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  let traceId = '';
  for (let request = 0; request <= warmUps; request += 1) {
    traceId = makeTraceId(request);
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${gatewayKey}`,
      traceparent: toTraceparent(traceId),
    };
    const body = JSON.stringify({ query: nested });
    await (await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body })).text();
  }
  // A gateway sends its spans in the order in which they end, and this one ends last.
  await collector.until((span) => isOfRequest(span) && span.traceId === traceId);
  return collector.spans.filter((span) => span.traceId === traceId);
}

/** The traces of a webhook at one gateway, and of the subscription at another one to which it is delivered. */
async function recordWebhook(warmUps: number): Promise<readonly CollectedSpan[]> {
  await using collector = await startCollector();
  await using redis = await startRedis();
  await using service = await startService();
  const env = {
    EVENT_LOG: redis.newUrl(),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    SERVICE_TEAM_ID: service.sandbox.teamId,
  };
  await using receiver = await startGateway(service.url, { ...env, OTEL_SERVICE_NAME: 'gateway-a' });
  await using other = await startGateway(service.url, { ...env, OTEL_SERVICE_NAME: 'gateway-b' });
  const query = 'subscription { events { cursor } }';
  const stream = await openEventStream({ url: other.url, token: gatewayKey, query });
  await collector.until(({ name }) => name === 'subscription');
  let traceId = '';
  for (let message = 0; message <= warmUps; message += 1) {
    traceId = makeTraceId(message);
    const body = orderEvent({ team_id: service.sandbox.teamId });
    const signed = signedHeaders(body, { id: `msg_${message}`, secret: webhookSecret });
    const headers = { ...signed, traceparent: toTraceparent(traceId) };
    await fetch(`${receiver.url}/webhooks`, { method: 'POST', headers, body });
    await stream.next();
  }
  stream.leave();
  await collector.until((span) => isOfRequest(span) && span.traceId === traceId);
  await collector.until(({ name, service }) => name === 'POST /graphql' && service === 'gateway-b');
  const own = collector.spans.filter((span) => span.traceId === traceId);
  const item = collector.spans.find(({ links }) => own.some(({ spanId }) => links.includes(spanId)));
  const opened = collector.spans.filter(
    (span) => span.traceId === item?.traceId && (span === item || span.name !== 'item'),
  );
  return [...own, ...opened];
}

function makeTraceId(number: number): string {
  return `4bf92f3577b34da6a3ce929d0e0e${(number + 1).toString(16).padStart(4, '0')}`;
}

function toTraceparent(traceId: string): string {
  return `00-${traceId}-00f067aa0ba902b7-01`;
}

function isOfRequest({ name }: CollectedSpan): boolean {
  return name === 'POST /graphql' || name === 'POST /webhooks';
}
