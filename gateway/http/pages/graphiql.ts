import { createHash } from 'node:crypto';
import { memoize } from '../../cache/memoize.ts';
import { answerStaticFile, caching, createStaticFile, type StaticFile } from './static-files.ts';

export interface GraphiQL {
  /** Filled in as well; null = people fill in their own. */
  readonly gatewayKey: string | null;
  readonly queries: readonly string[];
}

export interface GraphiQLPages {
  /** The page at `/graphql`. It may contain a key, so it is not cached. */
  readonly answerPage: (request: Request) => Promise<Response>;
  /** A script or style sheet at `/graphiql/<version>/<name>`; null if there is none. */
  readonly answerFile: (request: Request, version: string, name: string) => Promise<Response | null>;
}

/** GraphiQL without a CDN. Its files have 9 MB, so they are loaded and compressed with the first page. */
export function createGraphiQLPages(graphiql: GraphiQL): GraphiQLPages {
  const load = memoize(loadFiles);
  const loadPage = memoize(async () => {
    const { version } = await load();
    return await createStaticFile('index.html', Buffer.from(renderPage(graphiql, version)));
  });
  return {
    answerPage: async (request) => {
      const headers = { 'content-security-policy': pagePolicy, 'cache-control': 'no-store' };
      return answerStaticFile(request, await loadPage(), headers);
    },
    answerFile: async (request, version, name) => {
      const loaded = await load();
      const file = version === loaded.version ? await loaded.files.get(name)?.() : undefined;
      return file === undefined
        ? null
        : answerStaticFile(request, file, { 'cache-control': caching.immutable });
    },
  };
}

interface GraphiQLFiles {
  /** Names the content of all files. */
  readonly version: string;
  readonly files: ReadonlyMap<string, () => Promise<StaticFile>>;
}

async function loadFiles(): Promise<GraphiQLFiles> {
  const { js, css, editorWorkerService, jsonWorker, graphqlWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const texts = {
    'graphiql.css': css,
    'graphiql.js': `${js}\n${startScript}`,
    'editorWorkerService.js': editorWorkerService,
    'json.js': jsonWorker,
    'graphql.js': graphqlWorker,
  };
  const hash = createHash('sha256');
  for (const text of Object.values(texts)) hash.update(text);
  return {
    version: hash.digest('hex').slice(0, 12),
    files: new Map(
      Object.entries(texts).map(([name, text]) => [
        name,
        memoize(() => createStaticFile(name, Buffer.from(text))),
      ]),
    ),
  };
}

/** Starts GraphiQL with the options of the page. Its workers are beside the script. */
const startScript = `{
  const { src } = document.currentScript;
  self.MonacoEnvironment = {
    globalAPI: false,
    getWorkerUrl: (_module, label) => new URL(label + '.js', src).href,
  };
  const options = JSON.parse(document.querySelector('#options').textContent);
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), options);
}
`;

function renderPage({ gatewayKey, queries }: GraphiQL, version: string): string {
  const title = 'Labgraph GraphiQL';
  const key = gatewayKey ?? '<your gateway key>';
  const headers = JSON.stringify({ authorization: `Bearer ${key}` }, null, 2);
  const options = {
    title,
    headers,
    defaultHeaders: headers,
    shouldPersistHeaders: false,
    subscriptionsProtocol: 'SSE',
    defaultTabs: queries.map((query) => ({ query, headers })),
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/graphiql/${version}/graphiql.css">
    <script type="application/json" id="options">${JSON.stringify(options).replaceAll('<', '\\u003c')}</script>
    <script defer src="/graphiql/${version}/graphiql.js"></script>
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript.</noscript>
    <div id="root"></div>
  </body>
</html>
`;
}

/** Everything is of this origin. Monaco, the editor in GraphiQL, writes style sheets and fonts into the page. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
