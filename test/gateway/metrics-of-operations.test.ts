import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createMetrics } from '../../gateway/metrics.ts';
import { openEventStream } from '../support/event-stream.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

async function readMetrics(lab: Lab): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('labgraph_'));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])]));
}

test('operations are timed by type and the name of their trusted document, on the way of cached answers too', async () => {
  using folder = makeFolder();
  const file = folder.file('web@1.json');
  const [listed, unlisted] = ['query WhoAmI { viewer { kind } }', 'query Somebody { viewer { kind } }'];
  writeFileSync(file, JSON.stringify({ [hash('sha256', listed)]: listed }));
  await using lab = await startLab({ env: { PERSISTED_OPERATIONS_FILE: file } });
  for (const query of [listed, listed, unlisted, 'mutation { nothing }', '{ viewer { kind } nowhere }']) {
    await lab.query(query);
  }
  const metrics = await readMetrics(lab);
  const counted = [...metrics].filter(([name]) => name.startsWith('labgraph_operation_seconds_count'));
  expect(Object.fromEntries(counted)).toEqual({
    'labgraph_operation_seconds_count{type="query",name="WhoAmI"}': 2,
    'labgraph_operation_seconds_count{type="query",name="other"}': 1,
  });
  const infinite = metrics.get('labgraph_operation_seconds_bucket{type="query",name="WhoAmI",le="+Inf"}');
  expect(infinite).toBe(2);
});

test('there are 200 names of operations at most', async () => {
  const metrics = createMetrics();
  for (let index = 0; index < 300; index += 1) metrics.observeOperation('query', `Name${index}`, 0.02);
  const text = await metrics.text();
  const counts = [
    ...text.matchAll(/^labgraph_operation_seconds_count\{type="query",name="(\w+)"\} (\d+)$/gm),
  ];
  expect(counts).toHaveLength(201);
  expect(counts.at(-1)?.slice(1)).toEqual(['other', '100']);
  expect(text).toContain('labgraph_operation_seconds_bucket{type="query",name="Name0",le="0.01"} 0\n');
  expect(text).toContain('labgraph_operation_seconds_bucket{type="query",name="Name0",le="0.025"} 1\n');
});

test('the version, the extent of the log, open sockets and the slowest stream are shown', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const before = await readMetrics(lab);
  expect(before.get('labgraph_build_info{version="0.1.0"}')).toBe(1);
  expect(before.get('labgraph_event_log_oldest_seconds')).toBe(0);
  expect(before.get('labgraph_event_log_bytes')).toBeGreaterThan(10_000);

  const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await expect.poll(async () => (await readMetrics(lab)).get('labgraph_sockets')).toBe(1);
  socket.terminate();
  await expect.poll(async () => (await readMetrics(lab)).get('labgraph_sockets')).toBe(0);

  const stream = await openEventStream({
    ...{ url: lab.url, token: gatewayKey },
    query: 'subscription { events { cursor ... on UnknownEvent { payload } } }',
  });
  const filler = 'x'.repeat(100_000);
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  // More than the buffers between the gateway and a client that does not read.
  for (let index = 0; index < 100; index += 1) lab.sandbox.webhooks.send('of.size', { filler }, { userId });
  await lab.sandbox.webhooks.settled();
  await expect
    .poll(async () => (await readMetrics(lab)).get('labgraph_cursor_lag_seconds'))
    .toBeGreaterThan(0);
  expect((await readMetrics(lab)).get('labgraph_event_log_oldest_seconds')).toBeGreaterThan(0);
  stream.leave();
  await expect.poll(async () => (await readMetrics(lab)).get('labgraph_cursor_lag_seconds')).toBe(0);
});
