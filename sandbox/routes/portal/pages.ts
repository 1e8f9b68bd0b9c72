import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { currentStatus } from '../../orders/order.ts';
import { partsOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { findOrder, type PortalLink } from '../../world/world.ts';
import { renderPage } from './html.ts';

/** One opening of a portal page, so that a test can read which headers a browser sent about its origin. */
export interface PortalVisit {
  readonly path: string;
  readonly referer: string | null;
  readonly secFetchSite: string | null;
}

function answerPage(c: Context<SandboxEnv>, status: 200 | 404, lines: Parameters<typeof renderPage>[1]) {
  const nonce = randomBytes(16).toString('base64');
  c.header('content-security-policy', `default-src 'none'; style-src 'nonce-${nonce}'`);
  c.header('referrer-policy', 'no-referrer');
  c.header('cache-control', 'no-store');
  if (c.req.query('coop') === '1') c.header('cross-origin-opener-policy', 'same-origin');
  return c.html(renderPage(nonce, lines), status);
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
