import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A set of files, and everything they may import: other files of ours by path, packages by name. */
interface Room {
  readonly files: RegExp;
  readonly may: readonly RegExp[];
}

const errors = /^gateway\/errors\.ts$/;
/** Reads base64url in one spelling only, and makes bytes in memory of their own. */
const bytes = /^gateway\/parse\/bytes\.ts$/;
const json = /^gateway\/parse\/json\.ts$/;
const dates = /^gateway\/parse\/dates\.ts$/;
const origins = /^gateway\/parse\/origin\.ts$/;
const log = /^gateway\/log\.ts$/;
/** The request that the current work belongs to. */
const request = /^gateway\/telemetry\/request\.ts$/;
/** Spans, without a library. */
const tracing = /^gateway\/telemetry\/tracing\.ts$/;
const cache = /^gateway\/cache\/(memoize|shared-cache|invalidations)\.ts$/;
/** What a caller may see and do. */
const rights = /^gateway\/auth\/rights\.ts$/;
const config = /^gateway\/config\/(?!generated-secrets)/;
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
  'management',
];

function leftOf(concept: string): string {
  return concepts.slice(0, concepts.indexOf(concept)).join('|') || 'none';
}

/** Files of concepts by prefix, in the concept's folder or in a folder within it. */
function filesOf(prefixes: string, among: string): RegExp {
  return new RegExp(`^gateway/domain/(${among})/([a-z-]+/)?(${prefixes})(-[a-z-]+)?\\.ts$`);
}

/**
 * The prefix of a file decides what it may import. `rest` says what the service says, `actions` is a use case,
 * `graph` is what the gateway says, `events` shows webhooks. All of them know their concept and those to its left.
 */
function roomsOf(concept: string): readonly Room[] {
  const known = [concept, leftOf(concept)].join('|');
  const rest = [
    errors,
    dates,
    rights,
    /^gateway\/service\/(service|calls|failure)\.ts$/,
    /^gateway\/domain\/(parse|request-body)\.ts$/,
  ];
  const actions = [
    errors,
    dates,
    rights,
    /^(zod|node:crypto)$/,
    /^gateway\/service\/(service|calls)\.ts$/,
    /^gateway\/events\/(follow|cursor|log)\.ts$/,
    /^gateway\/graph\/(context|arguments|input-rules|user-error|pagination\/cursors)\.ts$/,
    /^gateway\/domain\/settle\.ts$/,
  ];
  const graph = [
    errors,
    dates,
    origins,
    rights,
    /^gateway\/graph\//,
    /^gateway\/service\/(service|calls)\.ts$/,
  ];
  return [
    {
      files: filesOf('rest', concept),
      may: [...rest, filesOf('rest', known)],
    },
    {
      files: filesOf('actions', concept),
      may: [...actions, filesOf('rest|actions', known)],
    },
    {
      files: filesOf('graph|events', concept),
      may: [...graph, filesOf('rest|actions|graph|events', known)],
    },
  ];
}

const conceptRooms: readonly Room[] = concepts.flatMap(roomsOf);

/** The widget's folders in their order: each may import those to its left. */
const widgetFolders = [
  'gateway',
  'live',
  'page',
  'words',
  'client',
  'elements',
  'status',
  'launch',
  'results',
];

const widgetRooms: readonly Room[] = widgetFolders.map((folder, index) => ({
  files: new RegExp(`^widget/src/${folder}/`),
  may: [
    new RegExp(`^widget/src/(${widgetFolders.slice(0, index + 1).join('|')})/`),
    // The texts of a language are one object; the results define the element beside the others.
    folder === 'words' ? /^widget\/src\/results\/strings\.ts$/ : /^widget\/src\/define\.ts$/,
    /^(lit|graphql-ws\/client)$/,
  ],
}));

const rooms: readonly Room[] = [
  { files: errors, may: [] },
  { files: json, may: [] },
  { files: dates, may: [] },
  { files: origins, may: [] },
  { files: bytes, may: [] },
  { files: cache, may: [cache, /^lru-cache$/] },
  { files: log, may: [errors, request, /^pino$/] },
  { files: request, may: [rights, tracing, node] },
  { files: tracing, may: [] },
  {
    files: /^gateway\/telemetry\/open-telemetry\.ts$/,
    may: [request, tracing, /^@opentelemetry\/api$/, node],
  },
  { files: /^gateway\/telemetry\/sdk\.ts$/, may: [/^@opentelemetry\//, node] },
  { files: /^gateway\/telemetry\/access-log\.ts$/, may: [rights, log, request, node] },
  {
    files: /^gateway\/telemetry\/trace-requests\.ts$/,
    may: [/^gateway\/telemetry\/access-log\.ts$/, tracing, node],
  },
  { files: /^gateway\/telemetry\/plain-metrics\.ts$/, may: [/^prom-client$/] },
  { files: config, may: [errors, origins, config, /^zod$/, /^node:(fs|crypto)$/] },
  { files: /^gateway\/config\/generated-secrets\.ts$/, may: [errors, config, /^zod$/, node] },
  {
    files: /^gateway\/(metrics|events\/delivery-metrics)\.ts$/,
    may: [
      /^(prom-client|node:fs)$/,
      /^gateway\/(events\/(delivery-metrics|log)|telemetry\/plain-metrics)\.ts$/,
    ],
  },
  {
    files: /^gateway\/service\//,
    may: [
      errors,
      json,
      dates,
      log,
      cache,
      rights,
      tracing,
      /^gateway\/service\//,
      /^(undici|node:(stream|timers\/promises|util|zlib))$/,
    ],
  },
  {
    files: /^gateway\/webhooks\//,
    may: [
      errors,
      json,
      log,
      tracing,
      /^gateway\/webhooks\//,
      /^gateway\/events\/log\.ts$/,
      /^(zod|node:(buffer|crypto|stream))$/,
    ],
  },
  {
    files: /^gateway\/intake\//,
    may: [
      errors,
      log,
      /^gateway\/intake\//,
      json,
      /^gateway\/webhooks\/(body-buffer|receiver|endpoint)\.ts$/,
      /^(rabbitmq-client|@google-cloud\/pubsub|@azure\/event-hubs|zod)$/,
      node,
    ],
  },
  {
    files: /^gateway\/events\//,
    may: [errors, bytes, dates, log, /^gateway\/events\//, /^(zod|@redis\/client|lru-cache)$/, node],
  },
  {
    files: /^gateway\/audit\//,
    may: [errors, log, /^gateway\/audit\//, rights, /^zod$/, node],
  },
  {
    files: /^gateway\/auth\//,
    may: [
      errors,
      dates,
      bytes,
      config,
      cache,
      request,
      /^gateway\/auth\//,
      /^gateway\/events\/log\.ts$/,
      /^(jose|lru-cache|zod|rate-limiter-flexible)$/,
      node,
    ],
  },
  {
    files: /^gateway\/domain\/(parse|request-body)\.ts$/,
    may: [dates, json, /^gateway\/service\/(calls|unreadable)\.ts$/],
  },
  { files: /^gateway\/domain\/settle\.ts$/, may: [errors] },
  ...conceptRooms,
  {
    files: /^gateway\/domain\/(schema|management-schema)\.ts$/,
    may: [/^graphql$/, /^node:fs$/, /^gateway\/(graph|domain)\//],
  },
  {
    files: /^gateway\/graph\//,
    may: [
      errors,
      dates,
      /^gateway\/graph\//,
      bytes,
      /^gateway\/(auth\/(rights|revocations|viewer-tokens|tickets)|service\/(service|calls|trace)|events\/(cursor|log|idempotency))\.ts$/,
      /^(@pothos\/.*|dataloader|graphql|graphql-scalars|zod)$/,
      node,
    ],
  },
  {
    files: /^gateway\/execution\/document\//,
    may: [
      errors,
      json,
      /^gateway\/(execution\/(document\/.*|mask|scheduler)|auth\/rights)\.ts$/,
      /^(graphql|lru-cache|zod|@pothos\/plugin-complexity)$/,
      /^node:(fs|crypto)$/,
    ],
  },
  {
    files: /^gateway\/(execution|http|websocket)\//,
    may: [
      errors,
      json,
      bytes,
      origins,
      log,
      cache,
      request,
      tracing,
      /^gateway\/domain\/schema\.ts$/,
      /^gateway\/(metrics|(http|websocket|execution|graph|auth|webhooks)\/.*|service\/trace)\.ts$/,
      /^(graphql|graphql-yoga|@graphql-yoga\/.*|graphql-ws|ws|hono|hono\/.*|@hono\/node-server|negotiator|zod|lru-cache|@fastify\/busboy)$/,
      node,
    ],
  },
  {
    files: /^gateway\/composition\/webhook-readers\.ts$/,
    may: [
      /^gateway\/domain\/(order\/read\/rest-order|lab-report\/rest|health-data\/actions)\.ts$/,
      /^gateway\/webhooks\/envelope\.ts$/,
    ],
  },
  {
    files: /^gateway\/composition\/sandbox-demo\.ts$/,
    may: [/^sandbox\/sandbox\.ts$/, /^gateway\/http\/pages\/demo\.ts$/],
  },
  {
    files: /^gateway\/(gateway\.ts$|composition\/)/,
    may: [
      /^(graphql|@hono\/node-server)$/,
      /^gateway\/(?!main|shutdown|composition\/sandbox-demo|config\/generated-secrets)/,
      node,
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
      /^gateway\/(composition\/webhook-readers|webhooks\/envelope|intake\/decode|events\/(open|log|follow)|audit\/(examine|line))\.ts$/,
      node,
    ],
  },
  {
    files: /^cli\/doctor\//,
    may: [errors, log, config, /^cli\/doctor\//, /^gateway\/(commands\/program|events\/open)\.ts$/, node],
  },
  {
    files: /^cli\//,
    may: [
      errors,
      /^cli\//,
      /^gateway\/commands\/(program|events|audit)\.ts$/,
      /^client\/src\/index\.ts$/,
      /^standardwebhooks$/,
      node,
    ],
  },
  { files: /^gateway\/shutdown\.ts$/, may: [errors, log, /^close-with-grace$/, node] },
  { files: /^gateway\/main\.ts$/, may: [/^(preload\.js|gateway\/process\.ts)$/, node] },
  {
    files: /^gateway\/process\.ts$/,
    may: [
      errors,
      log,
      /^gateway\/telemetry\/(tracing|sdk|open-telemetry)\.ts$/,
      /^gateway\/(shutdown|gateway|config\/(config|generated-secrets|changed-secrets)|composition\/sandbox-demo)\.ts$/,
      /^gateway\/events\/open\.ts$/,
      /^sandbox\/sandbox\.ts$/,
      node,
    ],
  },
  {
    files: /^sandbox\//,
    may: [
      /^sandbox\//,
      /^(hono|hono\/.*|@hono\/node-server|rabbitmq-client|@azure\/event-hubs|zod|standardwebhooks)$/,
      node,
    ],
  },
  ...widgetRooms,
  {
    files: /^client\/src\/(apollo|urql|react)\.ts$/,
    may: [/^client\/src\//, /^(@apollo\/client|react)$/],
  },
  { files: /^client\/src\//, may: [/^client\/src\//, /^graphql-ws\/client$/] },
  { files: /^widget\/src\/typings\//, may: [/^widget\/src\//, /^(lit|react|vue)$/] },
  { files: /^widget\/src\//, may: [/^widget\/src\//, /^(lit|graphql-ws\/client)$/] },
];

/** Libraries with one importer only, even where packages may be imported. */
const homes: Readonly<Record<string, RegExp>> = {
  undici: /^gateway\/service\//,
  'node:sqlite': /^gateway\/events\//,
  '@redis/client': /^gateway\/events\//,
  jose: /^gateway\/auth\//,
  'graphql-yoga': /^gateway\/(http|execution)\//,
  'lru-cache': /^gateway\/(cache|execution|auth|events)\//,
  ws: /^gateway\/websocket\//,
  '@fastify/busboy': /^gateway\/http\//,
  negotiator: /^gateway\/http\//,
  // The sandbox publishes, as the service does.
  'rabbitmq-client': /^(gateway\/intake|sandbox)\//,
  '@azure/event-hubs': /^(gateway\/intake|sandbox)\//,
  '@google-cloud/pubsub': /^gateway\/intake\//,
  'rate-limiter-flexible': /^gateway\/auth\//,
  '@opentelemetry/api': /^gateway\/telemetry\//,
  '@opentelemetry/sdk-trace': /^gateway\/telemetry\/sdk\.ts$/,
  hono: /^(gateway\/http|sandbox)\//,
  standardwebhooks: /^(sandbox|cli)\//,
  lit: /^widget\/src\//,
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

const files = ['cli', 'client/src', 'gateway', 'sandbox', 'widget/src'].flatMap(listFiles);
const edges = files.flatMap(readEdges);

test('every import of the house is on its allow-list', () => {
  expect(edges.length).toBeGreaterThan(400);
  expect(edges.filter(({ from }) => from.startsWith('gateway/domain/')).length).toBeGreaterThan(100);
  expect(edges.filter((edge) => !isAllowed(edge))).toEqual([]);
});

/** Groups of files that import each other, directly or through others of the group; imports of types count. */
function findCycles(among: readonly Edge[]): readonly (readonly string[])[] {
  const next = Map.groupBy(among, ({ from }) => from);
  const reachedBy = new Map(
    [...next.keys()].map((file) => {
      const reached = new Set<string>();
      const open = [file];
      for (let from = open.pop(); from !== undefined; from = open.pop()) {
        for (const { to } of next.get(from) ?? []) {
          if (!reached.has(to)) open.push(to);
          reached.add(to);
        }
      }
      return [file, reached] as const;
    }),
  );
  const groups = [...reachedBy]
    .filter(([file, reached]) => reached.has(file))
    .map(([file, reached]) => [...reached].filter((other) => reachedBy.get(other)?.has(file)).toSorted());
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

test('no folder has more than 15 files', () => {
  const sizes = new Map<string, number>();
  for (const file of ['cli', 'gateway', 'sandbox', 'widget/src'].flatMap(listFiles)) {
    const folder = file.slice(0, file.lastIndexOf('/'));
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  }
  expect([...sizes].filter(([, size]) => size > 15)).toEqual([]);
});

test('no files import each other in a cycle, types included', () => {
  expect(findCycles(edges)).toEqual([]);
});

test('a cycle of files is found, also through others', () => {
  const ring: readonly Edge[] = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'a' },
    { from: 'd', to: 'a' },
  ];
  expect(findCycles(ring)).toEqual([['a', 'b', 'c']]);
});

test('every room of the list has files, so no rule is without effect', () => {
  const empty = rooms.filter(
    (room) => !files.some((file) => rooms.find((first) => first.files.test(file)) === room),
  );
  expect(empty.map((room) => String(room.files)).filter((name) => !name.includes('domain'))).toEqual([]);
});

test('code for brokers is loaded only where one is configured', () => {
  const eager = files
    .filter((file) => !file.startsWith('gateway/intake/'))
    .flatMap((file) => {
      const { module } = parseSync(file, readFileSync(join(root, file), 'utf8'));
      return module.staticImports
        .filter(({ entries }) => entries.some(({ isType }) => !isType))
        .map(({ moduleRequest }) => ({ from: file, to: resolve(file, moduleRequest.value) }));
    });
  expect(eager.length).toBeGreaterThan(400);
  expect(
    eager.filter(({ to }) =>
      /^(gateway\/(intake\/|auth\/push-tokens|telemetry\/(sdk|open-telemetry))|rabbitmq-client|@azure\/|@google-cloud\/)/.test(
        to,
      ),
    ),
  ).toEqual([]);
});

test('each library has one home', () => {
  const strays = edges.filter(({ from, to }) => homes[to] !== undefined && !homes[to].test(from));
  expect(strays).toEqual([]);
});

test('the list refuses what it should refuse', () => {
  const forbidden: readonly Edge[] = [
    { from: 'gateway/domain/order/read/rest.ts', to: 'graphql' },
    { from: 'gateway/domain/order/read/rest.ts', to: 'zod' },
    { from: 'gateway/domain/user/rest-demographics.ts', to: 'gateway/graph/builder.ts' },
    { from: 'gateway/domain/user/actions.ts', to: 'gateway/graph/builder.ts' },
    { from: 'gateway/domain/user/actions.ts', to: 'gateway/domain/user/graph.ts' },
    { from: 'gateway/domain/user/rest.ts', to: 'gateway/domain/user/actions.ts' },
    { from: 'gateway/domain/user/rest.ts', to: 'gateway/domain/order/read/rest.ts' },
    { from: 'gateway/domain/user/graph.ts', to: 'gateway/domain/order/read/graph.ts' },
    { from: 'gateway/service/client.ts', to: 'gateway/domain/order/read/rest.ts' },
    { from: 'gateway/events/log.ts', to: 'gateway/graph/context.ts' },
    { from: 'sandbox/sandbox.ts', to: 'gateway/config/config.ts' },
    { from: 'widget/src/client/client.ts', to: 'gateway/errors.ts' },
    { from: 'widget/src/live/socket.ts', to: 'widget/src/client/client.ts' },
    { from: 'client/src/client.ts', to: 'gateway/errors.ts' },
    { from: 'client/src/client.ts', to: 'widget/src/client/client.ts' },
    { from: 'client/src/client.ts', to: 'react' },
  ];
  expect(forbidden.filter(isAllowed)).toEqual([]);
});
