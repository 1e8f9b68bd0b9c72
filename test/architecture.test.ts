import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;

/** A set of files, and everything they may import: other files of ours by path, packages by name. */
interface Room {
  readonly files: RegExp;
  readonly may: readonly RegExp[];
}

const errors = /^gateway\/errors\.ts$/;
/** Reads text in one spelling only. */
const base64url = /^gateway\/base64url\.ts$/;
const json = /^gateway\/json\.ts$/;
const dates = /^gateway\/dates\.ts$/;
const log = /^gateway\/log\.ts$/;
/** How long things are kept, and how many. */
const keeping = /^gateway\/(expiry|room)\.ts$/;
const config = /^gateway\/config(\.ts$|\/)/;
const node = /^node:/;

/** The concepts in their order: each may import those to its left. */
const concepts = [
  'address',
  'viewer',
  'user',
  'lab-account',
  'marker',
  'lab-test',
  'service-event',
  'order',
  'appointment',
  'result',
  'portal',
  'lab-report',
  'health-data',
];

function leftOf(concept: string): string {
  return concepts.slice(0, concepts.indexOf(concept)).join('|') || 'none';
}

/** Rest files say what the service says: no GraphQL, no stream, no edge. The first pattern that fits decides. */
const conceptRooms: readonly Room[] = concepts.flatMap((concept) => {
  const pure =
    'rest|write|status|passthrough|country|availability|places|facts|request|shape|filter|physician|lost|demographics|connections';
  return [
    {
      files: new RegExp(`^gateway/domain/${concept}/(${pure})\\.ts$`),
      may: [
        errors,
        dates,
        /^node:crypto$/,
        /^gateway\/upstream\/(service|refusal)\.ts$/,
        /^gateway\/domain\/reading\.ts$/,
        new RegExp(`^gateway/domain/${concept}/(${pure})\\.ts$`),
        new RegExp(`^gateway/domain/(${leftOf(concept)})/(${pure})\\.ts$`),
      ],
    },
    {
      files: new RegExp(`^gateway/domain/${concept}/`),
      may: [
        errors,
        dates,
        /^zod$/,
        /^node:crypto$/,
        /^gateway\/upstream\/(service|access)\.ts$/,
        /^gateway\/events\/(follow|cursor|log)\.ts$/,
        /^gateway\/graph\/(?!schema|print)/,
        /^gateway\/domain\/settle\.ts$/,
        new RegExp(`^gateway/domain/(${concept}|${leftOf(concept)})/`),
      ],
    },
  ];
});

const rooms: readonly Room[] = [
  { files: errors, may: [] },
  { files: json, may: [] },
  { files: dates, may: [] },
  { files: base64url, may: [] },
  { files: keeping, may: [] },
  { files: log, may: [errors, /^pino$/] },
  { files: config, may: [errors, config, /^zod$/, /^node:(fs|crypto)$/] },
  { files: /^gateway\/kept-secrets\.ts$/, may: [errors, config, /^zod$/, node] },
  {
    files: /^gateway\/(delivery-)?metrics\.ts$/,
    may: [/^prom-client$/, /^gateway\/delivery-metrics\.ts$/],
  },
  { files: /^gateway\/start-text\.ts$/, may: [/^gateway\/config\.ts$/] },
  {
    files: /^gateway\/upstream\//,
    may: [
      errors,
      json,
      dates,
      log,
      keeping,
      /^gateway\/upstream\//,
      /^(undici|cockatiel|node:(stream|util|zlib))$/,
    ],
  },
  {
    files: /^gateway\/webhooks\//,
    may: [
      errors,
      json,
      log,
      /^gateway\/webhooks\//,
      /^gateway\/events\/log\.ts$/,
      /^(zod|node:(buffer|crypto))$/,
    ],
  },
  {
    files: /^gateway\/events\//,
    may: [errors, base64url, dates, log, /^gateway\/events\//, /^(zod|@redis\/client)$/, node],
  },
  {
    files: /^gateway\/audit\//,
    may: [
      errors,
      log,
      /^gateway\/audit\//,
      /^gateway\/caller\/caller\.ts$/,
      /^gateway\/upstream\/access\.ts$/,
      /^zod$/,
      node,
    ],
  },
  {
    files: /^gateway\/caller\//,
    may: [
      errors,
      dates,
      base64url,
      config,
      keeping,
      /^gateway\/caller\//,
      /^gateway\/upstream\/service\.ts$/,
      /^gateway\/events\/deposits\.ts$/,
      /^(jose|zod)$/,
      node,
    ],
  },
  {
    files: /^gateway\/domain\/reading\.ts$/,
    may: [dates, /^gateway\/upstream\/(service|unreadable)\.ts$/],
  },
  { files: /^gateway\/domain\/settle\.ts$/, may: [errors] },
  ...conceptRooms,
  { files: /^gateway\/graph\/schema\.ts$/, may: [/^graphql$/, /^gateway\/(graph|domain)\//] },
  {
    files: /^gateway\/graph\//,
    may: [
      errors,
      dates,
      /^gateway\/graph\//,
      /^gateway\/(caller\/(caller|token-lives|viewer-tokens|tickets)|upstream\/(service|trace)|events\/(cursor|log|attempts))\.ts$/,
      /^(@pothos\/.*|dataloader|graphql|graphql-scalars|zod)$/,
      node,
    ],
  },
  {
    files: /^gateway\/execution\//,
    may: [
      errors,
      /^gateway\/(execution\/.*|caller\/caller)\.ts$/,
      /^(graphql|lru-cache|zod|@pothos\/plugin-complexity)$/,
      /^node:(fs|crypto)$/,
    ],
  },
  {
    files: /^gateway\/edge\//,
    may: [
      errors,
      log,
      keeping,
      /^gateway\/(metrics|edge\/.*|execution\/.*|graph\/.*|caller\/.*|webhooks\/.*|upstream\/(basis|shelf))\.ts$/,
      /^(graphql|graphql-yoga|@graphql-yoga\/.*|graphql-ws|ws|hono|hono\/.*|zod|@fastify\/busboy|rate-limiter-flexible)$/,
      node,
    ],
  },
  {
    files: /^gateway\/(gateway|callers|contexts|openers|server|upstream-by-events)\.ts$/,
    may: [/^gateway\/(?!main|demo-of-sandbox|ending|kept-secrets|start-text)/, /^@hono\/node-server$/, node],
  },
  {
    files: /^gateway\/readers\.ts$/,
    may: [
      /^gateway\/domain\/(order\/rest|lab-report\/rest|health-data\/facts)\.ts$/,
      /^gateway\/webhooks\/envelope\.ts$/,
    ],
  },
  {
    files: /^gateway\/commands\//,
    may: [
      errors,
      dates,
      log,
      /^gateway\/commands\//,
      config,
      /^gateway\/(readers|webhooks\/envelope|events\/(open|log|follow)|audit\/(examine|keys|line))\.ts$/,
      node,
    ],
  },
  { files: /^gateway\/demo-of-sandbox\.ts$/, may: [/^sandbox\/sandbox\.ts$/, /^gateway\/edge\/demo\.ts$/] },
  { files: /^gateway\/ending\.ts$/, may: [errors, log, /^close-with-grace$/, node] },
  { files: /^gateway\/watchdog\//, may: [log, node] },
  { files: /^gateway\/main\.ts$/, may: [/^gateway\/process\.ts$/, node] },
  {
    files: /^gateway\/process\.ts$/,
    may: [
      errors,
      log,
      /^gateway\/(config|ending|gateway|kept-secrets|start-text|demo-of-sandbox)\.ts$/,
      /^gateway\/events\/open\.ts$/,
      /^gateway\/watchdog\/watchdog\.ts$/,
      /^sandbox\/sandbox\.ts$/,
      node,
    ],
  },
  {
    files: /^sandbox\//,
    may: [/^sandbox\//, /^(hono|hono\/.*|@hono\/node-server|zod|standardwebhooks)$/, node],
  },
  { files: /^widget\/src\/typings\//, may: [/^widget\/src\//, /^react$/] },
  { files: /^widget\/src\//, may: [/^widget\/src\//, /^graphql-ws\/client$/] },
];

/** Libraries that live in one place only, whoever else might be allowed to import packages. */
const homes: Readonly<Record<string, RegExp>> = {
  undici: /^gateway\/upstream\//,
  'node:sqlite': /^gateway\/events\//,
  '@redis/client': /^gateway\/events\//,
  jose: /^gateway\/caller\//,
  'graphql-yoga': /^gateway\/edge\//,
  'lru-cache': /^gateway\/execution\//,
  ws: /^gateway\/edge\//,
  '@fastify/busboy': /^gateway\/edge\//,
  'rate-limiter-flexible': /^gateway\/edge\//,
  hono: /^(gateway\/edge|sandbox)\//,
  standardwebhooks: /^sandbox\//,
};

interface Edge {
  readonly from: string;
  readonly to: string;
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function readEdges(file: string): readonly Edge[] {
  const { module } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  const requests = [
    ...module.staticImports.map((item) => item.moduleRequest.value),
    ...module.staticExports.flatMap((item) => item.entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map((item) => readText(file, item.moduleRequest)),
  ];
  return requests
    .filter((request) => request !== undefined)
    .map((request) => ({ from: file, to: resolve(file, request) }));
}

function readText(file: string, span: { readonly start: number; readonly end: number }): string {
  return readFileSync(join(root, file), 'utf8').slice(span.start + 1, span.end - 1);
}

function resolve(file: string, request: string): string {
  return request.startsWith('.') ? relative(root, join(root, dirname(file), request)) : request;
}

function isAllowed({ from, to }: Edge): boolean {
  const room = rooms.find(({ files }) => files.test(from));
  return room?.may.some((pattern) => pattern.test(to)) ?? false;
}

const files = ['gateway', 'sandbox', 'widget/src'].flatMap(listFiles);
const edges = files.flatMap(readEdges);

test('every import of the house is on its allow-list', () => {
  expect(edges.length).toBeGreaterThan(400);
  expect(edges.filter((edge) => !isAllowed(edge))).toEqual([]);
});

test('every room of the list has files, so no rule stands for nothing', () => {
  const empty = rooms.filter(
    (room) => !files.some((file) => rooms.find((first) => first.files.test(file)) === room),
  );
  expect(empty.map((room) => String(room.files)).filter((name) => !name.includes('domain'))).toEqual([]);
});

test('each library has one home', () => {
  const strays = edges.filter(({ from, to }) => homes[to] !== undefined && !homes[to].test(from));
  expect(strays).toEqual([]);
});

test('the list refuses what it should refuse', () => {
  const forbidden: readonly Edge[] = [
    { from: 'gateway/domain/order/rest.ts', to: 'graphql' },
    { from: 'gateway/domain/order/rest.ts', to: 'zod' },
    { from: 'gateway/domain/user/graph.ts', to: 'gateway/domain/order/graph.ts' },
    { from: 'gateway/upstream/client.ts', to: 'gateway/domain/order/rest.ts' },
    { from: 'gateway/events/log.ts', to: 'gateway/graph/context.ts' },
    { from: 'sandbox/sandbox.ts', to: 'gateway/config.ts' },
    { from: 'widget/src/client.ts', to: 'gateway/errors.ts' },
  ];
  expect(forbidden.filter(isAllowed)).toEqual([]);
});
