import { isIP } from 'node:net';
import type { Hono, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { z } from 'zod';
import type { ViewerTokens } from '../../auth/viewer-tokens.ts';
import { memoize } from '../../cache/memoize.ts';
import { readWithin } from '../../parse/bytes.ts';
import { tryParseJson } from '../../parse/json.ts';
import type { GraphiQL, GraphiQLPages } from './graphiql.ts';
import { answerStaticFile, caching, loadStaticFile, revalidate } from './static-files.ts';

/** What the demo page shows; only there with the embedded sandbox. */
export interface Demo {
  readonly graphiql: GraphiQL;
  /** The sandbox's people and orders, for the two pickers. Invented, so nothing here is anybody's data. */
  readonly listPeople: () => readonly DemoPerson[];
}

export interface DemoPerson {
  readonly userId: string;
  readonly name: string;
  readonly canLaunch: boolean;
  readonly orders: readonly { readonly orderId: string; readonly method: string; readonly status: string }[];
}

export interface DemoOptions {
  readonly mint: ViewerTokens['mint'];
  /** The demo is served only at the gateway's own hosts, because its tokens and users are for pages of this machine. */
  readonly isOwnHost: IsOwnHost;
  readonly graphiql: GraphiQLPages | null;
}

const tokenRequest = z.object({ userId: z.guid(), orderId: z.guid().optional() });
const demoScopes = ['read:orders', 'read:results', 'launch:portal', 'simulate:orders'];
const demoFiles = ['demo.css', 'demo.js', 'ask.js', 'draw.js'];
const demoTtlSeconds = 900;
/** Two ids have about a hundred bytes, but anybody may send more. */
const maxBodyBytes = 10_000;

/** Adds the demo page with its files, those of GraphiQL, and `POST /demo/token`, which any page of this machine may call. */
export function addDemo(app: Hono, demo: Demo, { mint, isOwnHost, graphiql }: DemoOptions): void {
  const names = ['index.html', ...demoFiles];
  const load = (name: string) => memoize(() => loadStaticFile(new URL(`./demo/${name}`, import.meta.url)));
  const files = new Map(names.map((name) => [name, load(name)]));
  const answerFile = async (request: Request, name: string): Promise<Response | null> => {
    const file = await files.get(name)?.();
    if (file === undefined) return null;
    const more = name === 'index.html' ? pageHeaders : {};
    return answerStaticFile(request, file, { ...more, 'cache-control': caching.revalidated });
  };
  const requireOwnHost: MiddlewareHandler = async (context, next) =>
    isOwnHost(context.req.url) ? await next() : refuseHost();

  for (const path of ['/', '/demo/*', '/graphiql/*']) app.use(path, requireOwnHost, revalidate());

  app.get('/', async ({ req, notFound }) => (await answerFile(req.raw, 'index.html')) ?? notFound());
  app.get('/demo/:file{[a-z]+\\.(js|css)}', async ({ req, notFound }) => {
    return (await answerFile(req.raw, req.param('file'))) ?? notFound();
  });
  app.get('/graphiql/:version/:file', async ({ req, notFound }) => {
    const { version, file } = req.param();
    return (await graphiql?.answerFile(req.raw, version, file)) ?? notFound();
  });
  app.get('/demo/people', compress(), (context) => context.json({ people: demo.listPeople() }));
  app.post('/demo/token', async (context) => {
    const body = await readWithin(context.req.raw.body, maxBodyBytes);
    if (body === null) {
      const message = `The body may have ${maxBodyBytes.toLocaleString('en')} bytes at most.`;
      return context.json({ error: { code: 'BAD_REQUEST', message } }, 413);
    }
    const request = tokenRequest.safeParse(tryParseJson(body.toString('utf8')));
    if (!request.success) {
      const message = 'Send {"userId": "<uuid>", "orderId": "<uuid>"}; orderId may be left out.';
      return context.json({ error: { code: 'BAD_USER_INPUT', message } }, 400);
    }
    const { userId, orderId } = request.data;
    const { token, expiresAt } = await mint({
      userId: userId.toLowerCase(),
      orderIds: orderId === undefined ? null : [orderId],
      scopes: demoScopes,
      ttlSeconds: demoTtlSeconds,
      origins: null,
    });
    return context.json({ token, expiresAt }, 200, { 'cache-control': 'no-store' });
  });
}

/** The page has the strict policy under which the widget is promised to work. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types portal-widget',
].join('; ');
const pageHeaders = { 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' };

export interface OwnHostsOptions {
  /** The host that the gateway listens on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** Whether the host of a request's URL is one of the gateway's own. */
export type IsOwnHost = (url: string) => boolean;

/**
 * Protects against DNS rebinding: a page can make its own name resolve to this machine, and the browser then takes the
 * gateway for the page's own server. Own hosts are localhost, the name in HOST, the hosts of ALLOWED_ORIGINS, and every IP
 * address, because nobody can make an IP address resolve elsewhere. The port is not compared: forwarding may change it.
 */
export function createOwnHosts({ host, allowedOrigins }: OwnHostsOptions): IsOwnHost {
  const names = new Set(['localhost', host.toLowerCase(), ...allowedOrigins.map(nameOf)]);
  return (url) => {
    const name = nameOf(url);
    return names.has(name) || name.endsWith('.localhost') || isIP(name) > 0;
  };
}

function nameOf(url: string): string {
  return (URL.parse(url)?.hostname ?? '').replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
}

/** The response to a request for a host that is not the gateway's own. */
export function refuseHost(): Response {
  const message =
    'The demo is served only at localhost, at IP addresses, and at the names in HOST and ALLOWED_ORIGINS.';
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 421 });
}
