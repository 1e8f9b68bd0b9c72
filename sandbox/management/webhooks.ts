import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { readBody, readCursor, readQuery, rowsFrom } from '../http/validation.ts';
import type { intervals } from '../webhooks/deliveries.ts';
import { createEndpoint, rotateSecret, secretPattern } from '../webhooks/endpoints.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import { formatTimestamp } from '../world/clock.ts';
import type { World } from '../world/world.ts';
import {
  type ManagementContext,
  type ManagementEnv,
  type ManagementParts,
  readEnvironment,
  requireTeamOfPath,
} from './access.ts';
import { homeEnvironment, type WebhookEndpoint } from './state.ts';

const receiverUrl = z.url({ protocol: /^https?$/ });
const filterTypes = z.array(z.string()).min(1).nullish();
const rateLimit = z.number().int().min(1).nullish();
const secret = z.string().regex(secretPattern).nullish();

const newWebhook = z.object({
  description: z.string().default(''),
  rate_limit: rateLimit,
  url: receiverUrl,
  disabled: z.boolean().default(false),
  filter_types: filterTypes,
  secret,
});

const webhookPatch = z.object({
  description: z.string().nullish(),
  rate_limit: rateLimit,
  url: receiverUrl.nullish(),
  disabled: z.boolean().nullish(),
  filter_types: filterTypes,
});

const webhookQuery = z.object({
  next_cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(250).default(50),
});

/** Headers that belong to the delivery itself (Svix). */
const ownHeaders = /^(svix-|webhook-|content-|host$|connection$|transfer-encoding$|user-agent$)/i;
const headersBody = z.object({
  headers: z.record(
    z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/)
      .refine((name) => !ownHeaders.test(name), 'the header belongs to the delivery'),
    z.string().regex(/^[\t\x20-\x7e]{0,4096}$/),
  ),
});

/** Headers whose value is never shown again, by name (Svix). */
const sensitiveHeaders = [
  'authorization',
  'proxy-authorization',
  'proxy-authenticate',
  'www-authenticate',
  'x-auth-token',
];

function presentWebhook(endpoint: WebhookEndpoint) {
  return {
    id: endpoint.id,
    description: endpoint.description,
    rate_limit: endpoint.rateLimit,
    url: endpoint.url,
    disabled: endpoint.disabled,
    filter_types: endpoint.filterTypes,
    created_at: formatTimestamp(endpoint.createdAt),
    updated_at: formatTimestamp(endpoint.updatedAt),
  };
}

function presentHeaders(headers: WebhookEndpoint['headers']) {
  const isSensitive = (name: string) => sensitiveHeaders.includes(name.toLowerCase());
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !isSensitive(name))),
    sensitive: Object.keys(headers).filter(isSensitive),
  };
}

/** A secret in Svix' form. */
function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** The webhooks of the path's team and environment, in the order of their making. Brokers are not webhooks. */
function webhooksOfPath(c: ManagementContext, world: World): readonly WebhookEndpoint[] {
  const [team, environment] = [requireTeamOfPath(c, world), readEnvironment(c, 'environment')];
  return world.state.management.webhooks.filter(
    (each) => each.teamId === team.id && each.environment === environment && each.url.startsWith('http'),
  );
}

/** @throws Refusal 404, 422 */
function requireWebhook(c: ManagementContext, world: World): WebhookEndpoint {
  const webhook = webhooksOfPath(c, world).find(({ id }) => id === c.req.param('webhook_id'));
  if (!webhook) throw refuse(404, 'Webhook not found');
  return webhook;
}

/** Left out is unchanged; null removes a limit or a filter. */
function patchWebhook(webhook: WebhookEndpoint, patch: z.output<typeof webhookPatch>): void {
  webhook.description = patch.description ?? webhook.description;
  webhook.url = patch.url ?? webhook.url;
  webhook.disabled = patch.disabled ?? webhook.disabled;
  if (patch.rate_limit !== undefined) webhook.rateLimit = patch.rate_limit;
  if (patch.filter_types !== undefined) webhook.filterTypes = patch.filter_types;
}

/** The parts of the routes of webhooks, which must reach the sender. */
interface WebhookParts extends ManagementParts {
  readonly sender: WebhookSender;
}

const all = '/v1/org/:org_id/team/:team_id/:environment/webhook';
const one = `${all}/:webhook_id` as const;

function addWebhookRoutes(routes: Hono<ManagementEnv>, { service, sender }: WebhookParts): void {
  const { world, clock, save } = service;
  const { webhooks } = world.state.management;

  routes.get(all, (c) => {
    const rows = webhooksOfPath(c, world);
    const { next_cursor, limit } = readQuery(c, webhookQuery);
    const { rows: shown, next } = rowsFrom(rows, readCursor(next_cursor), limit);
    return c.json({ data: shown.map(presentWebhook), next_cursor: next });
  });

  routes.post(all, async (c) => {
    const [team, environment] = [requireTeamOfPath(c, world), readEnvironment(c, 'environment')];
    const body = await readBody(c, newWebhook);
    const webhook: WebhookEndpoint = {
      ...createEndpoint(world, { url: body.url, secret: body.secret ?? newSecret(), now: clock.now() }),
      teamId: team.id,
      environment,
      description: body.description,
      rateLimit: body.rate_limit ?? null,
      disabled: body.disabled,
      filterTypes: body.filter_types ?? null,
    };
    webhooks.push(webhook);
    await save();
    sender.release();
    return c.json(presentWebhook(webhook));
  });

  routes.get(one, (c) => c.json(presentWebhook(requireWebhook(c, world))));

  routes.patch(one, async (c) => {
    const webhook = requireWebhook(c, world);
    patchWebhook(webhook, await readBody(c, webhookPatch));
    webhook.updatedAt = clock.now();
    await save();
    sender.release();
    return c.json(presentWebhook(webhook));
  });

  routes.delete(one, async (c) => {
    webhooks.splice(webhooks.indexOf(requireWebhook(c, world)), 1);
    await save();
    return c.body(null, 204);
  });
}

function addSecretRoutes(routes: Hono<ManagementEnv>, { service }: WebhookParts): void {
  const { world, clock, save } = service;

  routes.get(`${one}/headers`, (c) => c.json(presentHeaders(requireWebhook(c, world).headers)));

  routes.put(`${one}/headers`, async (c) => {
    const webhook = requireWebhook(c, world);
    webhook.headers = (await readBody(c, headersBody)).headers;
    webhook.updatedAt = clock.now();
    await save();
    return c.body(null, 204);
  });

  routes.get(`${one}/secret`, (c) => c.json({ key: requireWebhook(c, world).secrets[0]?.key }));

  routes.post(`${one}/secret/rotate`, async (c) => {
    const webhook = requireWebhook(c, world);
    const { key } = await readBody(c, z.object({ key: secret }));
    rotateSecret(webhook, key ?? newSecret(), clock.now());
    await save();
    return c.body(null, 204);
  });
}

const intervalNames = ['5m', '15m', '1h', '1d'] as const satisfies readonly (keyof typeof intervals)[];
const metricQuery = z.object({ interval: z.enum(intervalNames).default('1h') });

/** Webhooks with their headers and secrets, and how many were delivered (public service: management API). */
export function webhookRoutes(parts: WebhookParts): Hono<ManagementEnv> {
  const { world, clock } = parts.service;
  const routes = new Hono<ManagementEnv>();

  routes.get('/v1/org/:org_id/team/:team_id/:environment/event_delivery_metric', (c) => {
    const [team, environment] = [requireTeamOfPath(c, world), readEnvironment(c, 'environment')];
    const { interval } = readQuery(c, metricQuery);
    const isHome = team.id === world.teamId && environment === homeEnvironment;
    const now = clock.now();
    const result = (['delivered', 'failed'] as const).map((status) => ({
      metric: { destination: 'svix', status },
      values: parts.sender.deliveries.seriesOf(status, interval, now),
    }));
    return c.json({ status: 'success', data: { resultType: 'matrix', result: isHome ? result : [] } });
  });

  addWebhookRoutes(routes, parts);
  addSecretRoutes(routes, parts);
  return routes;
}
