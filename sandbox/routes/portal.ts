import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { requireUser } from '../http/require.ts';
import { readBody, readUuid } from '../http/validation.ts';
import { currentStatus } from '../orders/order.ts';
import { partsOf } from '../orders/states.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { PortalLink } from '../world/state.ts';
import { findOrder } from '../world/world.ts';

/** The texts of a portal page; they never name a person. */
interface PageText {
  readonly text: string;
  readonly order?: { readonly shortId: string; readonly stage: string; readonly step: string };
}

const style = `
  :root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #f3f6f7; color: #1d2b30; }
  main { box-sizing: border-box; width: min(30rem, 100% - 2rem); padding: 2rem; border-radius: 16px;
    background: #fff; border: 1px solid #dbe4e7; }
  h1 { margin: 0 0 .75rem; font-size: 1.3rem; font-weight: 600; }
  p { margin: 0 0 1rem; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1.25rem; margin: 0; padding-top: 1rem;
    border-top: 1px solid #dbe4e7; }
  dt { color: #5a6d74; } dd { margin: 0; font-variant-numeric: tabular-nums; }
  small { display: block; margin-top: 1.5rem; color: #5a6d74; }
  @media (prefers-color-scheme: dark) {
    body { background: #12191c; color: #e4edf0; }
    main { background: #1a2428; border-color: #2e3c42; }
    dl { border-color: #2e3c42; } dt, small { color: #9db0b7; }
  }`;

/** `collecting_sample` as `Collecting sample`. */
function words(status: string): string {
  const text = status.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function orderLines(order: NonNullable<PageText['order']>): string {
  return `<dl>
      <dt>Order</dt><dd>${order.shortId}</dd>
      <dt>Stage</dt><dd>${words(order.stage)}</dd>
      <dt>Step</dt><dd>${words(order.step)}</dd>
    </dl>`;
}

/** The whole page as one file; the nonce admits its style. All texts are the sandbox's own. */
function renderPage(nonce: string, { text, order }: PageText): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Patient portal (sandbox)</title>
  <style nonce="${nonce}">${style}</style>
</head>
<body>
  <main>
    <h1>Patient portal (sandbox)</h1>
    <p>${text}</p>
    ${order ? orderLines(order) : ''}
    <small>This page stands in for the real portal. Everything in it is invented.</small>
  </main>
</body>
</html>
`;
}

/** One visit of a portal page, with the headers in which a browser names its origin. */
export interface PortalVisit {
  readonly path: string;
  readonly referer: string | null;
  readonly secFetchSite: string | null;
}

function answerPage(c: Context<SandboxEnv>, status: 200 | 404, text: PageText) {
  const nonce = randomBytes(16).toString('base64');
  c.header('content-security-policy', `default-src 'none'; style-src 'nonce-${nonce}'`);
  c.header('referrer-policy', 'no-referrer');
  c.header('cache-control', 'no-store');
  if (c.req.query('coop') === '1') c.header('cross-origin-opener-policy', 'same-origin');
  return c.html(renderPage(nonce, text), status);
}

/** The pages behind portal URLs; the link itself is the permission, so no API key is asked for. */
export function portalPageRoutes(service: Service, visits: PortalVisit[]): Hono<SandboxEnv> {
  const { world, clock } = service;
  const routes = new Hono<SandboxEnv>();

  function findLink(path: string): PortalLink | undefined {
    const link = world.state.portalLinks.find((each) => each.path === path);
    return link && link.expiresAt > clock.now() ? link : undefined;
  }

  routes.on('GET', ['/portal/:token', '/p/:short'], (c) => {
    const { path } = c.req;
    const referer = c.req.header('referer') ?? null;
    visits.push({ path, referer, secFetchSite: c.req.header('sec-fetch-site') ?? null });
    const link = findLink(path);
    if (!link)
      return answerPage(c, 404, { text: 'This link is not valid any more. Please ask for a new one.' });
    const order = link.orderId === null ? undefined : findOrder(world, link.orderId);
    if (!order) return answerPage(c, 200, { text: 'You are signed in. Your orders will be shown here.' });
    const { stage, step } = partsOf(currentStatus(order));
    return answerPage(c, 200, {
      text: 'You are signed in.',
      order: { shortId: order.id.slice(0, 8), stage, step },
    });
  });

  return routes;
}

const portalUrlBody = z.object({
  context: z.enum(['launch', 'communications']),
  order_id: z.guid().nullish(),
});

// Minutes for a launch, weeks for a message (specification); in seconds, as the public service seems to mean it.
const lifetimeSeconds = { launch: 600, communications: 14 * 24 * 3600 } as const;

function pathFor(context: keyof typeof lifetimeSeconds): string {
  if (context === 'launch') return `/portal/${randomBytes(32).toString('base64url')}`;
  return `/p/${randomBytes(8).toString('base64url')}`;
}

/** Creation of portal URLs (specification: endpoint 1). */
export function portalUrlRoutes({ world, clock, save, originOf }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.post('/v2/user/:user_id/create_portal_url', async (c) => {
    const userId = readUuid(c, 'user_id');
    const { context, order_id } = await readBody(c, portalUrlBody);
    const user = requireUser(world, userId);
    if (!user.demographics) throw refuse(422, 'The portal requires that demographics are set for the user.');
    const order = order_id ? findOrder(world, order_id) : undefined;
    if (order_id && order?.userId !== user.id) throw refuse(422, 'The order is not an order of this user.');

    const path = pathFor(context);
    const expires_in = lifetimeSeconds[context];
    const expiresAt = clock.now() + expires_in * 1000;
    world.state.portalLinks.push({ path, orderId: order?.id ?? null, expiresAt });
    await save();
    return c.json({ url: originOf(c.req.raw) + path, expires_in });
  });

  return routes;
}
