import { expect, test } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { gatewayKey } from '../support/lab.ts';
import { startGateway, startService, traceId, traceparent } from '../support/traced.ts';

const query = (url: string, text: string) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}`, traceparent },
    body: JSON.stringify({ query: text }),
  });

test('a trace has the request, the operation and each call to the service, and nothing personal', async () => {
  await using collector = await startCollector();
  const { sandbox, url, traces } = await startService();
  const gateway = await startGateway(url, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await query(gateway.url, '{ viewer { kind } }');
  traces.length = 0;
  await query(
    gateway.url,
    'query Named { users(first: 20) { nodes { id orders(first: 20) { nodes { id } } } } }',
  );
  await query(gateway.url, '{ order(id: "x") { id } }');
  expect(await gateway.end('SIGTERM')).toBe(0);

  const calls = collector.spans.filter(({ kind }) => kind === 3);
  const list = calls.find(({ name }) => name === 'GET user.list');
  const operation = collector.spans.find(({ spanId }) => spanId === list?.parentSpanId);
  const own = calls.filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
  expect(own).toHaveLength(21);
  expect(own.map(({ attributes }) => attributes['http.response.status_code'])).toEqual(Array(21).fill(200));
  // The name was chosen by the client, so it is not shown.
  expect(operation).toMatchObject({
    name: 'query',
    attributes: { 'graphql.operation.type': 'query' },
    traceId,
  });
  const request = collector.spans.find(({ spanId }) => spanId === operation?.parentSpanId);
  expect(request).toMatchObject({
    ...{ name: 'POST /graphql', kind: 2, traceId, parentSpanId: '00f067aa0ba902b7', service: 'labgraph' },
    attributes: { 'http.request.method': 'POST', 'http.route': '/graphql', 'http.response.status_code': 200 },
  });
  expect(
    traces.filter((sent) => own.some(({ spanId }) => sent === `00-${traceId}-${spanId}-01`)),
  ).toHaveLength(21);
  const failed = collector.spans.filter(({ name, isFailed }) => name === 'query' && isFailed);
  expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['BAD_USER_INPUT']);

  const everything = collector.bodies.join('');
  for (const { userId, clientUserId } of sandbox.users()) {
    expect(everything).not.toContain(userId);
    expect(everything).not.toContain(clientUserId);
  }
  for (const { orderId } of sandbox.orders()) expect(everything).not.toContain(orderId);
  expect(everything).not.toContain(gatewayKey);
});
