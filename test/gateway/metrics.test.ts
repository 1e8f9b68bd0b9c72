import { readFileSync } from 'node:fs';
import perfHooks from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { createMetrics } from '../../gateway/metrics.ts';
import { openEventStream } from '../support/event-stream.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, type Lab, startLab, webhookSecret } from '../support/lab.ts';
import { transports } from '../support/subscribe.ts';
import { orderEvent, secretOf, signedHeaders } from './webhooks/support.ts';

const document = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const documented = [...document.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?)\| (.*) \|$/gm)].map(
  ([, name = '', type = '', labels = '', help = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    help,
  }),
);

/** Of each metric of ours by name: its samples with their labels. */
async function readMetrics(lab: Lab): Promise<readonly { line: string; name: string; labels: string[] }[]> {
  const text = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  return text
    .split('\n')
    .filter((line) => /^(labgraph|un)/.test(line))
    .map((line) => ({
      line,
      name: line.replace(/[{ ].*$/, ''),
      labels: [...line.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    }));
}

/** Without counters of what never happened. */
const linesOf = async (lab: Lab, name: string) =>
  (await readMetrics(lab))
    .filter((sample) => sample.name === name && !/_total\{.*\} 0$/.test(sample.line))
    .map(({ line }) => line);

test('what an alert asks the growth of is there before it happens', async () => {
  await using lab = await startLab();
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  for (const line of [
    'labgraph_webhooks_total{outcome="stale"} 0',
    'labgraph_webhooks_total{outcome="flooded"} 0',
    'labgraph_webhooks_total{outcome="unavailable"} 0',
    'labgraph_dead_letters_total{reason="other-team"} 0',
    'labgraph_dead_letters_total{reason="unreadable"} 0',
    'labgraph_operations_total{outcome="INTERNAL"} 0',
  ])
    expect(text).toContain(`${line}\n`);
});

test('a gateway without an audit trail has no metric that says it cannot be written', async () => {
  await using lab = await startLab();
  expect(await linesOf(lab, 'labgraph_event_log_writable')).toHaveLength(1);
  expect(await linesOf(lab, 'labgraph_audit_trail_writable')).toEqual([]);
});

test('docs/operations.md and the registry have the same metrics, of the same types, in the same words', async () => {
  const metrics = createMetrics();
  metrics.watchEventLog('sqlite', async () => true);
  metrics.watchExtent(async () => ({ bytes: 0, oldestAt: null }));
  metrics.watchCursors(() => 0);
  metrics.watchAuditTrail(() => true);
  const text = await metrics.text();
  const own = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
    .map(([, name = '', help = '', type = '']) => ({ name, type, help }))
    .filter(({ name }) => !/^(process|nodejs)_/.test(name));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(documented.map(({ name, type, help }) => ({ name, type, help })).toSorted(byName)).toEqual(
    own.toSorted(byName),
  );
});

test('the process is measured once, however many gateways were in it', async () => {
  createMetrics();
  using measure = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  const text = await createMetrics().text();
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \S+$/m);
  expect(text).toMatch(/^labgraph_sockets 0$/m);
  expect(text).not.toMatch(/\n\n\n/);
  expect(measure).not.toHaveBeenCalled();
});

const post = (lab: Lab, body: string, headers: Record<string, string>) =>
  fetch(`${lab.url}/webhooks`, { method: 'POST', headers, body });

test('webhooks are counted by what became of them, with their lag, offset and dead letters', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const own = orderEvent({ team_id: lab.sandbox.teamId });
  const sign = (body: string, id: string, age = 0, secret = webhookSecret) =>
    signedHeaders(body, { id, age, secret });
  const altered = orderEvent({ team_id: lab.sandbox.teamId, client_user_id: 'another' });
  await lab.query('{ users(first: 1) { nodes { id } } }');
  await post(lab, own, sign(own, 'a', 20));
  await post(lab, own, sign(own, 'a'));
  await post(lab, altered, sign(altered, 'a'));
  await post(lab, orderEvent(), sign(orderEvent(), 'b'));
  await post(lab, 'unreadable', sign('unreadable', 'c'));
  await post(lab, own, sign(own, 'd', 0, secretOf('x')));
  await post(lab, own, sign(own, 'e', 400));

  expect((await linesOf(lab, 'labgraph_webhooks_total')).toSorted()).toEqual([
    'labgraph_webhooks_total{outcome="accepted"} 1',
    'labgraph_webhooks_total{outcome="altered"} 1',
    'labgraph_webhooks_total{outcome="dead"} 2',
    'labgraph_webhooks_total{outcome="duplicate"} 1',
    'labgraph_webhooks_total{outcome="refused"} 1',
    'labgraph_webhooks_total{outcome="stale"} 1',
  ]);
  expect((await linesOf(lab, 'labgraph_dead_letters_total')).toSorted()).toEqual([
    'labgraph_dead_letters_total{reason="other-team"} 1',
    'labgraph_dead_letters_total{reason="unreadable"} 1',
  ]);
  expect(await linesOf(lab, 'labgraph_webhook_lag_seconds_count')).toEqual([
    'labgraph_webhook_lag_seconds_count 5',
  ]);
  expect(await linesOf(lab, 'labgraph_webhook_clock_offset_seconds')).toEqual([
    'labgraph_webhook_clock_offset_seconds 400',
  ]);
  expect(await linesOf(lab, 'labgraph_event_log_writable')).toEqual([
    'labgraph_event_log_writable{kind="sqlite"} 1',
  ]);
});

test('the table lists every label that is ever shown', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  await lab.query('{ users(first: 1) { nodes { id } } nowhere }');
  await lab.query('{ users(first: 1) { nodes { id } } }');
  const labelsOf = (name: string) =>
    documented.find((row) => name.replace(/_(bucket|sum|count)$/, '') === row.name || name === row.name)
      ?.labels;
  const samples = await readMetrics(lab);
  expect(samples.length).toBeGreaterThan(20);
  for (const { name, labels } of samples) {
    for (const label of labels.filter((shown) => shown !== 'le')) expect(labelsOf(name)).toContain(label);
  }
});

test.each(transports)(
  'streams over %s are counted while they are open, and how far they lag',
  async (name, subscribe) => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const transport = name.toLowerCase();
    const open = `labgraph_subscriptions{transport="${transport}"}`;
    const lag = `labgraph_follow_lag_seconds_count{transport="${transport}"}`;
    const user = lab.sandbox.users()[0]?.userId ?? '';
    const sendEvent = async () => {
      lab.sandbox.webhooks.send('some.event', {}, { userId: user });
      await lab.sandbox.webhooks.settled();
    };
    const query = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
    const first = await subscribe({ url: lab.url, token: gatewayKey, query });
    await expect.poll(() => linesOf(lab, 'labgraph_subscriptions')).toEqual([`${open} 1`]);
    await sendEvent();
    const after = (await first.next())?.data.events.cursor;
    await sendEvent();
    await first.next();
    expect(await linesOf(lab, 'labgraph_follow_lag_seconds_count')).toEqual([`${lag} 2`]);
    await first.close();
    await expect.poll(() => linesOf(lab, 'labgraph_subscriptions')).toEqual([`${open} 0`]);

    // What came before the stream began has waited for nobody.
    const second = await subscribe({ url: lab.url, token: gatewayKey, query, variables: { after } });
    await second.next();
    expect(await linesOf(lab, 'labgraph_follow_lag_seconds_count')).toEqual([`${lag} 2`]);
    await second.close();
    const refused = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query,
      variables: { after: 'forged' },
    });
    await refused.next().catch(() => null);
    await refused.close();
    await expect.poll(() => linesOf(lab, 'labgraph_subscriptions')).toEqual([`${open} 0`]);
  },
);

test('streams that must begin anew are counted by reason', async () => {
  using folder = makeFolder();
  const first = await startLab({ env: { EVENT_LOG: `sqlite:${folder.file('a.db')}`, EVENT_LOG_KEY: key } });
  const orderId = first.sandbox.orders()[0]?.orderId;
  const orders = `subscription { orderUpdates(orderId: "${orderId}") { kind } }`;
  const everything = 'subscription { events { __typename } }';
  const idOf = async (query: string) => {
    const stream = await openEventStream({ url: first.url, token: gatewayKey, query });
    if (query === everything) first.sandbox.webhooks.send('some.event', {}, { userId: crypto.randomUUID() });
    const frame = await stream.next();
    stream.leave();
    return frame?.id;
  };
  const cursors = [await idOf(orders), await idOf(everything)];
  await first[Symbol.asyncDispose]();

  await using lab = await startLab({
    env: { EVENT_LOG: `sqlite:${folder.file('b.db')}`, EVENT_LOG_KEY: key },
  });
  for (const [index, query] of [orders, everything].entries()) {
    const stream = await openEventStream({
      url: lab.url,
      token: gatewayKey,
      query,
      lastEventId: cursors[index],
    });
    expect((await stream.next())?.data).toMatch(/RESYNC|StreamReset/);
    stream.leave();
  }
  expect(await linesOf(lab, 'labgraph_resyncs_total')).toEqual([
    'labgraph_resyncs_total{reason="other-epoch"} 2',
  ]);
});

const key = Buffer.alloc(32, 'k').toString('base64');

const readinessOf = async (lab: Lab) => {
  const response = await lab.gateway.fetch(new Request(`${lab.url}/ready`));
  return { code: response.status, ...(await response.json()) };
};

test('a gateway that can work says so, and anybody who asks again makes it ask nobody again', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const ready = { code: 200, status: 'ready', eventLog: true, service: true, problems: [] };
  expect(await readinessOf(lab)).toEqual(ready);
  const { length } = lab.sandbox.calls;
  expect(await readinessOf(lab)).toEqual(ready);
  expect(lab.sandbox.calls).toHaveLength(length);
});

test('operations are counted by the code that they are answered', async () => {
  await using lab = await startLab({ env: { EVENT_LOG: 'memory:' } });
  lab.sandbox.faults.add({ path: '/orders', effect: { kind: 'featureNotEnabled' } });
  const query = 'subscription { orderUpdates(orderId: "00000000-0000-4000-8000-000000000000") { cursor } }';
  await lab.query('{ viewer { kind } }');
  await lab.query('{ orders(first: 1) { totalCount } }');
  await lab.query('{ order(id: "x") { id } }');
  for (const [, subscribe] of transports) {
    const stream = await subscribe({ url: lab.url, token: gatewayKey, query });
    await stream.next();
    await stream.close();
  }
  expect((await linesOf(lab, 'labgraph_operations_total')).toSorted()).toEqual([
    'labgraph_operations_total{outcome="BAD_USER_INPUT"} 1',
    'labgraph_operations_total{outcome="UPSTREAM_FORBIDDEN"} 4',
    'labgraph_operations_total{outcome="ok"} 1',
  ]);
});

test('a subscription is counted when it opens, and each of its results that has an error', async () => {
  await using lab = await startLab({ env: { EVENT_LOG: 'memory:' } });
  lab.sandbox.faults.add({ path: '/v2/user/', effect: { kind: 'featureNotEnabled' } });
  const query = 'subscription { events { cursor user { id } } }';
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const streams = await Promise.all(
    transports.map(([, subscribe]) => subscribe({ url: lab.url, token: gatewayKey, query })),
  );
  const results = streams.map((stream) => stream.next());
  await expect
    .poll(() => linesOf(lab, 'labgraph_operations_total'))
    .toEqual([`labgraph_operations_total{outcome="ok"} ${transports.length}`]);

  lab.sandbox.webhooks.send('some.event', {}, { userId });
  await Promise.all(results);

  expect((await linesOf(lab, 'labgraph_operations_total')).toSorted()).toEqual([
    `labgraph_operations_total{outcome="UPSTREAM_FORBIDDEN"} ${transports.length}`,
    `labgraph_operations_total{outcome="ok"} ${transports.length}`,
  ]);
  for (const stream of streams) await stream.close();
});

test('a gateway whose service refuses its lists says so, and what may be wrong', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  lab.sandbox.faults.add({ path: '/orders', effect: { kind: 'featureNotEnabled' } });
  expect(await readinessOf(lab)).toEqual({
    code: 503,
    status: 'not ready',
    eventLog: true,
    service: false,
    problems: [
      'The service does not give its lists of users and orders: it is away, or SERVICE_API_KEY or SERVICE_ORDERS_PATH is wrong.',
    ],
  });
});

test('a gateway that has stopped says so in words', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  await lab.gateway.close();
  expect(await readinessOf(lab)).toMatchObject({
    eventLog: false,
    problems: [
      'The event log cannot be written: webhooks are answered with 503 and come again.',
      'The service does not give its lists of users and orders: it is away, or SERVICE_API_KEY or SERVICE_ORDERS_PATH is wrong.',
      'The gateway is stopping.',
    ],
  });
  expect(await linesOf(lab, 'labgraph_event_log_writable')).toEqual([
    'labgraph_event_log_writable{kind="sqlite"} 0',
  ]);
});

test('metrics are rendered once a second, however often and by how many they are asked for', async () => {
  await using lab = await startLab({ metricsCacheMs: 60_000 });
  const readAll = () =>
    Promise.all(Array.from({ length: 20 }, async () => (await fetch(`${lab.url}/metrics`)).text()));
  const texts = await readAll();
  await lab.query('{ viewer { kind } }');
  // Each rendering reads the processor time anew, and the operation would be counted.
  expect(new Set([...texts, ...(await readAll())]).size).toBe(1);
});

test('with METRICS_PORT metrics have an address of their own, beside the probes', async () => {
  await using lab = await startLab({ env: { METRICS_PORT: '0' } });
  const line = lab.logged.find((logged) => logged.includes('"metrics.listening"')) ?? '{}';
  const { address } = JSON.parse(line);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(address).not.toBe(lab.url);
  const metrics = await fetch(`${address}/metrics`);
  expect(metrics.status).toBe(200);
  expect(metrics.headers.get('content-type')).toContain('text/plain');
  expect(await metrics.text()).toContain('labgraph_operations_total');
  const statuses = [`${lab.url}/metrics`, `${address}/graphql`, `${address}/health`].map(
    async (url) => (await fetch(url)).status,
  );
  expect(await Promise.all(statuses)).toEqual([404, 404, 200]);

  await lab.gateway.close();
  await expect(fetch(`${address}/metrics`)).rejects.toThrow();
});
