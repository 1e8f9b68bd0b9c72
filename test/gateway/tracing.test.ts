import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { startCollector } from '../support/collector.ts';
import { gatewayKey } from '../support/lab.ts';
import { listenAnywhere } from '../support/listening.ts';
import { startGateway, startService, traceId, traceparent } from '../support/traced.ts';

const query = async (url: string, text: string, headers: object = { traceparent }) => {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}`, ...headers },
    body: JSON.stringify({ query: text }),
  });
  await answer.text();
};

test('a trace has the request, the operation and each call to the service, and nothing personal', async () => {
  await using collector = await startCollector();
  await using service = await startService();
  const { sandbox, url, traces } = service;
  await using gateway = await startGateway(url, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await query(gateway.url, '{ viewer { kind } }');
  traces.length = 0;
  await query(
    gateway.url,
    'query Named { users(first: 20) { nodes { id orders(first: 20) { nodes { id } } } } }',
  );
  await query(gateway.url, '{ order(id: "x") { id } }');
  // At its end a gateway waits a second for the collector, which a busy machine may not give.
  await collector.until(({ name, isFailed }) => name === 'query' && isFailed);
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

test('a new trace that is not sampled is not recorded, and its calls carry one id that says so; a sampled one is followed', async () => {
  await using collector = await startCollector();
  await using service = await startService();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0' };
  await using gateway = await startGateway(service.url, env);
  service.traces.length = 0;
  const users = '{ users(first: 3) { nodes { id orders(first: 1) { nodes { id } } } } }';
  await query(gateway.url, users, {});
  await query(gateway.url, users, { traceparent: 'none' });
  const sent = service.traces.splice(0);
  await query(gateway.url, users);
  await collector.until(({ name }) => name === 'POST /graphql');

  expect(sent).toHaveLength(8);
  expect([...new Set(sent)]).toEqual(Array(2).fill(expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-00$/)));
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(service.traces).toEqual(Array(4).fill(expect.stringMatching(`^00-${traceId}-[\\da-f]{16}-01$`)));
});

test('without a collector nothing of the SDK is loaded', async () => {
  const hook = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { console.log('loaded ' + url); return next(url, context); } });`;
  const options = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
  await using gateway = await startGateway('http://127.0.0.1:9', { NODE_OPTIONS: options });
  const loaded = gateway.output.filter((line) => line.startsWith('loaded '));
  expect(loaded.length).toBeGreaterThan(10);
  // The API is part of the built gateway; beside the source, prom-client loads it.
  expect(loaded.filter((line) => /@opentelemetry\/(?!api\/)/.test(line))).toEqual([]);
});

test("a team's own SDK takes the gateway's place, and its sampler decides", async () => {
  await using collector = await startCollector();
  await using service = await startService();
  await using gateway = await startGateway(service.url, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '0',
    NODE_OPTIONS: `--import=${new URL('../support/own-sdk.ts', import.meta.url)}`,
  });
  await query(gateway.url, '{ users(first: 1) { nodes { id } } }', {});
  const names = () => gateway.output.filter((line) => line.startsWith('own span: '));
  await expect.poll(names).toContain('own span: POST /graphql');
  expect(names()).toEqual(['own span: GET user.list', 'own span: query', 'own span: POST /graphql']);
  expect(collector.spans).toEqual([]);
});

test('spans that a collector does not accept are logged once a minute, without its answer', async () => {
  let posts = 0;
  const refusing = createServer((request, response) => {
    posts += 1;
    request.resume();
    response.writeHead(404).end('canary');
  });
  const collector = await listenAnywhere(refusing);
  await using service = await startService();
  await using gateway = await startGateway(service.url, { OTEL_EXPORTER_OTLP_ENDPOINT: collector });
  for (const sent of [1, 2]) {
    await query(gateway.url, '{ viewer { kind } }');
    await expect.poll(() => posts).toBeGreaterThanOrEqual(sent);
  }
  expect(await gateway.end('SIGTERM')).toBe(0);
  refusing.close();
  const logged = gateway.output.filter((line) => line.includes('tracing.unsent'));
  // No request is the cause, so the line names none.
  const [level, time, advice] = [40, expect.any(String), expect.stringContaining('OTLP over HTTP')];
  expect(logged.map((line) => JSON.parse(line))).toEqual([{ level, time, advice, event: 'tracing.unsent' }]);
  expect(gateway.output.join('')).not.toContain('canary');
});
