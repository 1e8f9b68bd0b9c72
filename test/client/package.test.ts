import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { labTestOf, patient } from '../support/ordering.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const ourModules = join(root, 'node_modules');
/** What the types of the package and of its consumer come from. */
const typed = ['graphql', 'graphql-ws', 'gql.tada', '@gql.tada/internal', '@0no-co/graphql.web'];
const forReact = ['react', 'react-is', 'react-test-renderer', 'scheduler'];

/** A project elsewhere that has installed the package as it would be published, without a network. */
let project = '';
let installed = '';
let packed: readonly string[] = [];

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'labgraph-client-'));
  installed = join(project, 'node_modules/@labgraph/client');
  mkdirSync(installed, { recursive: true });
  // `npm test` has built it already.
  const pack = ['pack', '-w', 'client', '--json', '--ignore-scripts', '--pack-destination', project];
  const { stdout } = await run('npm', pack, { cwd: root });
  const [tarball] = Object.values<{ filename: string; files: { path: string }[] }>(JSON.parse(stdout));
  packed = tarball?.files.map(({ path }) => path) ?? [];
  await run('tar', ['-xzf', join(project, tarball?.filename ?? ''), '-C', installed, '--strip-components=1']);
  cpSync(fileURLToPath(new URL('consumer', import.meta.url)), join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  for (const name of [...typed, ...forReact]) {
    cpSync(join(ourModules, name), join(project, 'node_modules', name), { recursive: true });
  }
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the package has what is built and nothing else, needs graphql-ws only, and is as publint wants it', async () => {
  expect(packed.filter((path) => !/^(package\.json|README\.md|dist\/)/.test(path))).toEqual([]);
  expect(packed.filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['graphql-ws']);
  const { messages, pkg } = await publint({ pkgDir: installed, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('its entries may be imported on a server, those that need no peer', async () => {
  const { stdout } = await run(
    'node',
    [
      ...['--input-type=module', '-e'],
      `const found = {};
      for (const entry of ['', '/files', '/urql', '/schema']) found[entry] = Object.keys(await import('@labgraph/client' + entry));
      console.log(JSON.stringify(found));`,
    ],
    { cwd: project },
  );

  expect(JSON.parse(stdout)).toEqual({
    '': ['LabgraphError', 'createLabgraphClient'],
    '/files': ['encodeFiles'],
    '/urql': ['forwardSubscription'],
    '/schema': ['keys', 'possibleTypes', 'scalars'],
  });
});

test.each([
  { target: 'es2023', strict: true, exactOptionalPropertyTypes: true },
  // As Next.js writes it by itself.
  { target: 'es2017', strict: false },
])('documents are typed by gql.tada, by codegen and by hand with %j', async (options) => {
  const compilerOptions = {
    ...options,
    ...{ module: 'preserve', moduleResolution: 'bundler', lib: ['es2023', 'dom'], types: [], noEmit: true },
    // Of gql.tada, for one.
    skipLibCheck: true,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));

  const { stdout } = await run(join(ourModules, '.bin/tsc'), ['-p', project]).catch((cause) => cause);

  expect(stdout).toBe('');
});

test('nothing in its declarations is any', () => {
  const declarations = readdirSync(join(installed, 'dist/types'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => readFileSync(join(installed, 'dist/types', file), 'utf8'));
  expect(declarations.length).toBeGreaterThan(8);
  expect(declarations.filter((text) => /\bany\b/.test(text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, '')))).toEqual(
    [],
  );
});

test('useOrder shows an order and its changes, and nothing of it once another order is asked for', async () => {
  await using lab = await startLab();
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  const given = [`${lab.url}/graphql`, gatewayKey, order?.orderId ?? ''];

  const { stdout } = await run('node', ['src/react.js', ...given], { cwd: project });

  const shown: readonly (readonly [string | null, boolean, string | null])[] = JSON.parse(stdout);
  expect(shown[0]).toEqual([null, false, null]);
  const labels = [...new Set(shown.map(([label]) => label))];
  expect(labels).toEqual([null, 'Ordered', 'Requisition created']);
  const asked = shown.findLastIndex(([label]) => label !== null) + 1;
  expect(shown[asked]).toEqual([null, false, null]);
  expect(shown.at(-1)).toEqual([null, false, 'NOT_FOUND']);
});

test('useOrder shows nothing of an order that is another person’s: after a change of person, and after the order moved', async () => {
  await using lab = await startLab();
  const [one, two] = lab.sandbox.users();
  const userIds = [one?.userId ?? '', two?.userId ?? ''];
  const { orderId, sampleId } = await orderKit(lab, userIds[0] ?? '');
  const given = {
    url: `${lab.url}/graphql`,
    key: gatewayKey,
    tokens: await Promise.all(userIds.map((userId) => lab.tokenFor(userId))),
    orderId,
    register: { ...patient, sampleId, userId: userIds[1] },
  };

  const { stdout } = await run('node', ['src/react-person.js', JSON.stringify(given)], { cwd: project });

  type Render = readonly [person: string, hasOrder: boolean, isLive: boolean, code: string | null];
  const shown: readonly Render[] = JSON.parse(stdout);
  const ofPresent = shown.filter(([person]) => person === 'present');
  expect(ofPresent[0]).toEqual(['present', false, false, null]);
  expect(ofPresent.at(-1)).toEqual(['present', false, false, 'NOT_FOUND']);
  expect(ofPresent.filter(([, hasOrder]) => hasOrder)).toEqual([]);
  const again = shown.slice(shown.findLastIndex(([person]) => person === 'present') + 1);
  expect(again[0]).toEqual(['former', false, false, null]);
  expect(again.at(-1)).toEqual(['former', false, false, 'NOT_FOUND']);
});

/** A kit that this person has at home. */
async function orderKit(lab: Lab, userId: string): Promise<{ orderId: string; sampleId: string }> {
  const { receiverName, firstLine, city, state, zip, country } = patient.patientAddress;
  const shippingDetails = { receiverName, firstLine, city, state, zip, country, phoneNumber: '+16025550100' };
  const input = { userId, labTestId: labTestOf(lab, 'testkit'), idempotencyKey: 'kit', shippingDetails };
  const create = `mutation ($input: CreateTestkitOrderInput!) { createTestkitOrder(input: $input) {
    ... on OrderCreated { order { id } } } }`;
  const { data } = await lab.query(create, { variables: { input } });
  const { id } = data.createTestkitOrder.order;
  await lab.query(
    'mutation ($id: ID!, $to: String) { simulateOrder(id: $id, finalStatus: $to) { __typename } }',
    {
      variables: { id, to: 'collecting_sample.testkit.with_customer' },
    },
  );
  await lab.sandbox.webhooks.settled();
  const read = await lab.query('query ($id: ID!) { order(id: $id) { sampleId } }', { variables: { id } });
  return { orderId: id, sampleId: read.data.order.sampleId };
}

test('the files of the schema are those of schema.graphql', async () => {
  // In a process of its own, because a gateway in this one meters the fields of introspection.
  const code = `import { readFileSync } from 'node:fs';
    import { describeSchema } from './client/build/schema.ts';
    console.log(JSON.stringify(describeSchema(readFileSync('schema.graphql', 'utf8'))));`;
  const node = ['--input-type=module', '-e', code];
  const { stdout } = await run(process.execPath, node, { cwd: root, maxBuffer: 2 ** 24 });
  const files: Readonly<Record<string, string>> = JSON.parse(stdout);

  const { directives } = JSON.parse(files['introspection.json'] ?? '').__schema;
  const places = directives.flatMap(({ locations }: { readonly locations: readonly string[] }) => locations);
  // As in the gateway's own introspection (test/gateway/schema.test.ts).
  expect(places).toContain('ENUM_VALUE');
  expect(places).not.toContain('DIRECTIVE_DEFINITION');
  for (const [file, text] of Object.entries(files)) {
    expect(readFileSync(join(installed, 'dist/schema', file), 'utf8') === text, file).toBe(true);
  }
});

test('the core is at most 4 kB beyond the client of graphql-ws', async () => {
  const [core, alone] = await Promise.all([
    measure("export * from '@labgraph/client';"),
    measure("export { createClient } from 'graphql-ws/client';"),
  ]);

  expect(core - alone).toBeLessThan(4000);
});

/** The size of a page's code as it is sent: minified and compressed by gzip. */
async function measure(code: string): Promise<number> {
  const { build } = await import('vite');
  const input = join(project, `${code.length}.js`);
  writeFileSync(input, code);
  const output = {
    format: 'es',
    minify: { compress: true, mangle: { toplevel: true }, codegen: true },
  } as const;
  const built = await build({
    ...{ configFile: false, logLevel: 'warn', root: project },
    build: {
      write: false,
      target: 'es2023',
      rolldownOptions: { input, preserveEntrySignatures: 'strict', output },
    },
  });
  if (!('output' in built)) throw new Error('It is one module.');
  const [chunk] = built.output;
  return gzipSync(chunk.code, { level: 9 }).length;
}
