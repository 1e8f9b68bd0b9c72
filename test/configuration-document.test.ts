import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../gateway/config/config.ts';

const root = new URL('..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The names in the first column of every table. */
const settingsIn = (text: string) =>
  [...text.matchAll(/^\| ((?:`[A-Z][A-Z_]+` ?)+)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );

const needed = settingsIn(read('README.md'));
const [others = '', later = ''] = read('docs/configuration.md').split('\n## How do I pass a secret');
const [, sandbox = ''] = later.split('\n## Which settings has the sandbox?');
const documented = [...needed, ...settingsIn(others)];

/** A switch for tests, and one that was removed and is still refused. */
const undocumented = new Set(['DIRECT_PATH', 'WORKERS']);

/** Every variable that the gateway asks for, over all the ways through its configuration. */
function settingsOfTheGateway(): readonly string[] {
  const asked = new Set<string>();
  const ways: Readonly<Record<string, string>>[] = [
    {},
    { NODE_ENV: 'production' },
    { VIEWER_JWKS_URL: 'https://id.example.com/keys', METRICS_PORT: '1', REUSE_PORT: '1' },
    ...['production-us', 'production-eu', 'sandbox-us', 'sandbox-eu'].map((name) => ({
      SERVICE_DEPLOYMENT: name,
    })),
  ];
  for (const way of ways) {
    const env = new Proxy(way, {
      get(target, name) {
        asked.add(String(name));
        return Reflect.get(target, name);
      },
    });
    try {
      readConfig(env, () => ({
        serviceApiKey: '-',
        webhookSecret: '-',
        gatewayApiKey: '-',
        viewerTokenSecret: '-',
      }));
    } catch {
      // What is missing is a fault; what is asked for is all that counts here.
    }
  }
  return [...asked].filter((name) => !undocumented.has(name)).toSorted();
}

const fileForm = /_FILE$/;
const asked = settingsOfTheGateway();
const secrets = asked.filter((name) => asked.includes(`${name}_FILE`) && name !== 'PERSISTED_OPERATIONS');

test('every setting is documented in exactly one of README and docs/configuration.md', () => {
  const settings = asked.filter(
    (name) => !secrets.includes(name.replace(fileForm, '')) || !fileForm.test(name),
  );
  expect(documented.toSorted()).toEqual(settings);
});

test('README has the ten settings that everybody needs', () => {
  expect(needed).toHaveLength(10);
});

test('docs/configuration.md lists the settings that a file can hold', () => {
  const [, sentence = ''] = /This works for (.*?)\.\n/s.exec(later) ?? [];
  const named = [...sentence.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual(secrets);
});

test('every setting of the sandbox is documented', () => {
  const settings = [...read('sandbox/main.ts').matchAll(/'(SANDBOX_\w+)'/g)].map(([, name = '']) => name);
  expect(settingsIn(sandbox).toSorted()).toEqual([...new Set(settings)].toSorted());
});

test('no document mentions a switch that only tests use', () => {
  const pages = [
    'README.md',
    'SECURITY.md',
    ...readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ];
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.filter((page) => /\bFAST_LANE\b|\bJIT\b/.test(read(page)))).toEqual([]);
});
