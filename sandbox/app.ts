import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import { type Faults, misbehave } from './http/faults.ts';
import { Refusal, refuse } from './http/refusal.ts';
import {
  type ManagementEnv,
  type Plan,
  requireFeature,
  requireManagementKey,
  requireOwnOrg,
  requireTeamCredential,
} from './management/access.ts';
import { integrationRoutes } from './management/integrations.ts';
import { keyRoutes } from './management/keys.ts';
import { organizationRoutes } from './management/organization.ts';
import { webhookRoutes } from './management/webhooks.ts';
import { appointmentRoutes } from './routes/appointments/appointments.ts';
import { availabilityRoutes } from './routes/appointments/availability.ts';
import { catalogueRoutes } from './routes/catalogue.ts';
import { controlRoutes } from './routes/controls.ts';
import { labReportRoutes } from './routes/lab-reports.ts';
import { orderCreationRoutes } from './routes/orders/creation.ts';
import { orderListRoutes } from './routes/orders/list.ts';
import { orderRoutes } from './routes/orders/orders.ts';
import { simulationRoutes } from './routes/orders/simulation.ts';
import { type PortalVisit, portalPageRoutes, portalUrlRoutes } from './routes/portal.ts';
import { resultRoutes } from './routes/results.ts';
import { userRoutes } from './routes/users.ts';
import { wearableControls, wearableRoutes } from './routes/wearables.ts';
import type { SandboxEnv, Service } from './service.ts';
import { publishedKeys } from './webhooks/pubsub.ts';
import type { WebhookSender } from './webhooks/sender.ts';

/** The parts of the HTTP interface. */
interface AppParts {
  readonly service: Service;
  readonly sender: WebhookSender;
  readonly faults: Faults;
  readonly plan: Plan;
  /** Opens the controls of the sandbox. */
  readonly apiKey: string;
  /** Grows by one line for each request to one of the service's interfaces. */
  readonly calls: string[];
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The key that the sandbox was started with, in `x-service-api-key`. */
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

/** The management interface, which the public service has on a host of its own. */
function managementRoutes(parts: AppParts): Hono<ManagementEnv> {
  const { service, faults, plan, calls } = parts;
  const routes = new Hono<ManagementEnv>();
  routes.use(record(calls), requireManagementKey(service.world), misbehave(faults, service.closing));
  routes.use('/v1/org/:org_id/*', requireOwnOrg(service.world), requireFeature(plan, 'management'));
  for (const part of [organizationRoutes, keyRoutes, webhookRoutes, integrationRoutes])
    routes.route('/', part(parts));
  routes.all('*', (c) => c.json({ detail: 'Not Found' }, 404));
  return routes;
}

function serviceRoutes({ service, faults, calls }: AppParts): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.use(record(calls), requireTeamCredential(service), misbehave(faults, service.closing));
  const parts = [
    userRoutes,
    portalUrlRoutes,
    catalogueRoutes,
    orderListRoutes,
    // Before the orders, whose path accepts any last part.
    availabilityRoutes,
    appointmentRoutes,
    orderCreationRoutes,
    orderRoutes,
    resultRoutes,
    labReportRoutes,
    simulationRoutes,
    wearableRoutes,
  ];
  for (const part of parts) routes.route('/', part(service));
  return routes;
}

/** Where the management interface begins. */
export const managementPath = '/management';

/** The whole HTTP interface: portal pages, controls and management first, then the service for all other paths. */
export function createApp(parts: AppParts): Hono<SandboxEnv> {
  const visits: PortalVisit[] = [];
  const app = new Hono<SandboxEnv>();
  app.route('/', portalPageRoutes(parts.service, visits));
  // Before the controls: the receiver of a push reads the keys.
  app.get('/sandbox/oidc/jwks.json', (c) => c.json(publishedKeys()));
  app.use('/sandbox/*', requireKey(parts.apiKey));
  app.use('/portal-visits', requireKey(parts.apiKey));
  app.route('/', controlRoutes({ ...parts, visits }));
  app.route('/', wearableControls(parts.service));
  app.route(managementPath, managementRoutes(parts));
  app.route('/', serviceRoutes(parts));
  app.notFound((c) => c.json({ detail: 'Not Found' }, 404));
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json(error.body, error.status);
    process.stderr.write(`${error.stack ?? error.message}\n`);
    return c.json({ detail: 'The sandbox has a fault.' }, 500);
  });
  return app;
}
