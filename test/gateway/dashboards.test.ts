import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const folder = 'deploy/observability/dashboards/';
const panels = readdirSync(new URL(folder, root)).flatMap((file) => {
  const dashboard: Dashboard = JSON.parse(read(`${folder}${file}`));
  return dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr })));
});
const rules = read('deploy/observability/alerts.yaml');
const alerts = [...rules.matchAll(/- alert: (\w+)\n +expr: (.*)\n/g)].map(([, name = '', expr = '']) => ({
  name,
  expr: expr.replace(/^(['"])(.*)\1$/, '$2'),
}));

test('each panel and each alert asks only for metrics that a gateway publishes', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  const published = new Set<string>(['labgraph_audit_trail_writable']);
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) published.add(`${name}${suffix}`);
  }
  expect(panels).toHaveLength(24);
  for (const { name, expr } of [...panels, ...alerts]) {
    const asked = expr.match(/\b(?:labgraph|process|nodejs)_\w+/g) ?? [];
    expect({
      name,
      count: asked.length > 0,
      unknown: asked.filter((metric) => !published.has(metric)),
    }).toEqual({
      ...{ name, count: true, unknown: [] },
    });
  }
});

test('each alert has a section in docs/runbooks.md and a link to it', () => {
  const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(alerts.map(({ name }) => name)).toEqual(sections);
  for (const { name } of alerts) expect(rules).toContain(`runbook: docs/runbooks.md#${name.toLowerCase()}\n`);
});
