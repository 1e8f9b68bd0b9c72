import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, startLab } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import { subscribeOverWebSocket } from '../support/subscribe.ts';
import { findOnPath, findPrometheus } from '../support/tools.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const rules = join(root, 'deploy/observability/alerts.yaml');
const prometheus = findPrometheus() ?? 'prometheus';

function promtool(args: readonly string[], input?: string): string {
  const beside = join(dirname(prometheus), 'promtool');
  const file = dirname(prometheus) === '.' ? (findOnPath(['promtool']) ?? 'promtool') : beside;
  return execFileSync(file, args, { encoding: 'utf8', ...(input === undefined ? {} : { input }) });
}

/** The expressions of every panel, as Grafana sends them for scrapes of a second. */
const panels = readdirSync(join(root, 'deploy/observability/dashboards')).flatMap((file) => {
  const text = readFileSync(join(root, 'deploy/observability/dashboards', file), 'utf8');
  const board: { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] } =
    JSON.parse(text);
  return board.panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '10s')),
  );
});

test('each alert fires when it should, and no sooner', () => {
  using folder = makeFolder();
  const file = folder.file('alerts.yaml');
  const cases = readFileSync(new URL('alerts.yaml', import.meta.url), 'utf8');
  writeFileSync(file, cases.replace('RULES', rules));
  expect(promtool(['test', 'rules', file])).toContain('SUCCESS');
  expect(promtool(['check', 'config', join(root, 'deploy/compose/prometheus.yaml')])).toContain('SUCCESS');
});

test('every panel shows something of a gateway that Prometheus scrapes', async () => {
  using folder = makeFolder();
  await using lab = await startLab({
    eventLog: 'sqlite',
    env: {
      AUDIT_TRAIL: `file:${folder.file('audit')}`,
      AUDIT_TRAIL_KEY: randomBytes(32).toString('base64'),
    },
  });
  const port = await findFreePort();
  writeFileSync(
    folder.file('prometheus.yaml'),
    `global: { scrape_interval: 1s }
rule_files: ['${rules}']
scrape_configs:
  - job_name: labgraph
    static_configs: [{ targets: ['${new URL(lab.url).host}'] }]`,
  );
  const server = spawn(
    prometheus,
    [
      `--config.file=${folder.file('prometheus.yaml')}`,
      `--storage.tsdb.path=${folder.file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  try {
    const order = lab.sandbox.orders().at(-1);
    const stream = await subscribeOverWebSocket({
      url: lab.url,
      token: gatewayKey,
      query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { cursor } }',
      variables: { id: order?.orderId },
    });
    await stream.next();
    const ask = async (expr: string): Promise<readonly unknown[]> => {
      const address = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`;
      const answer = await fetch(address).catch(() => null);
      return answer === null ? [] : (await answer.json()).data.result;
    };
    const findEmpty = async () => {
      await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', {
        variables: { id: order?.orderId },
      });
      await lab.query('{ users(first: 2) { nodes { id orders(first: 2) { nodes { id } } } } }');
      const answers = await Promise.all(panels.map(async (expr) => [expr, await ask(expr)] as const));
      return answers.filter(([, result]) => result.length === 0).map(([expr]) => expr);
    };
    await expect.poll(findEmpty, { interval: 1000 }).toEqual([]);
    expect(await ask('ALERTS{alertstate="firing"}')).toEqual([]);
    const metrics = await (await fetch(`${lab.url}/metrics`)).text();
    // The others are prom-client's own.
    const own = metrics.split('\n').filter((line) => line.includes('labgraph_'));
    promtool(['check', 'metrics'], `${own.join('\n')}\n`);
    await stream.close();
  } finally {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
});
