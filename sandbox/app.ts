import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import type { FaultRules } from './faults.ts';
import { misbehave } from './http/misbehave.ts';
import { Refusal, refuse } from './http/refusal.ts';
import { areaRoutes } from './routes/appointments/area.ts';
import { phlebotomyRoutes } from './routes/appointments/phlebotomy.ts';
import { serviceCenterRoutes } from './routes/appointments/service-centers.ts';
import { connectionRoutes } from './routes/connections.ts';
import { controlRoutes } from './routes/controls.ts';
import { labAccountRoutes } from './routes/lab-accounts.ts';
import { labReportRoutes } from './routes/lab-reports.ts';
import { labTestRoutes } from './routes/lab-tests.ts';
import { markerRoutes } from './routes/markers.ts';
import { orderCreationRoutes } from './routes/orders/creation.ts';
import { orderListRoutes } from './routes/orders/list.ts';
import { orderRoutes } from './routes/orders/orders.ts';
import { simulationRoutes } from './routes/orders/simulation.ts';
import { orderUpdateRoutes } from './routes/orders/updates.ts';
import type { PortalVisit } from './routes/portal/pages.ts';
import { portalPageRoutes } from './routes/portal/pages.ts';
import { portalUrlRoutes } from './routes/portal/urls.ts';
import { resultRoutes } from './routes/results.ts';
import { userChangeRoutes } from './routes/user-changes.ts';
import { userRoutes } from './routes/users.ts';
import { wearableControls, workoutRoutes } from './routes/wearables.ts';
import type { SandboxEnv, Service } from './service.ts';
import type { WebhookSender } from './webhooks/sender.ts';

/** What the HTTP interface is made of. */
interface AppParts {
  readonly service: Service;
  readonly sender: WebhookSender;
  readonly faults: FaultRules;
  readonly apiKey: string;
  /** Grows by one line for each request to the service's interface. */
  readonly calls: string[];
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The team key in `x-service-api-key` (specification: Authentication). */
function requireKey(apiKey: string): MiddlewareHandler<SandboxEnv> {
  return async (c, next) => {
    const given = hash(c.req.header('x-service-api-key') ?? '');
    if (!timingSafeEqual(given, hash(apiKey))) throw refuse(401, 'invalid token');
    await next();
  };
}

function record(calls: string[]): MiddlewareHandler<SandboxEnv> {
  return async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    calls.push(`${c.req.method} ${pathname}${search}`);
    await next();
  };
}

function serviceRoutes({ service, faults, apiKey, calls }: AppParts): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.use(record(calls), requireKey(apiKey), misbehave(faults, service.closing));
  routes.route('/', userRoutes(service));
  routes.route('/', userChangeRoutes(service));
  routes.route('/', connectionRoutes(service));
  routes.route('/', portalUrlRoutes(service));
  // Before the lab tests, whose path takes any last part.
  routes.route('/', markerRoutes(service));
  routes.route('/', labAccountRoutes(service));
  routes.route('/', labTestRoutes(service));
  routes.route('/', orderListRoutes(service));
  // Before the orders, whose path takes any last part.
  routes.route('/', areaRoutes());
  routes.route('/', phlebotomyRoutes(service));
  routes.route('/', serviceCenterRoutes(service));
  routes.route('/', orderCreationRoutes(service));
  routes.route('/', orderUpdateRoutes(service));
  routes.route('/', orderRoutes(service));
  routes.route('/', resultRoutes(service));
  routes.route('/', labReportRoutes(service));
  routes.route('/', simulationRoutes(service));
  routes.route('/', workoutRoutes(service));
  return routes;
}

/** The whole HTTP interface: portal pages and controls first, then the service, which takes every other path. */
export function createApp(parts: AppParts): Hono<SandboxEnv> {
  const visits: PortalVisit[] = [];
  const app = new Hono<SandboxEnv>();
  app.route('/', portalPageRoutes(parts.service, visits));
  app.use('/sandbox/*', requireKey(parts.apiKey));
  app.use('/portal-visits', requireKey(parts.apiKey));
  app.route('/', controlRoutes({ ...parts, visits }));
  app.route('/', wearableControls(parts.service));
  app.route('/', serviceRoutes(parts));
  app.notFound((c) => c.json({ detail: 'Not Found' }, 404));
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json(error.body, error.status);
    process.stderr.write(`${error.stack ?? error.message}\n`);
    return c.json({ detail: 'The sandbox has a fault.' }, 500);
  });
  return app;
}
