import { randomBytes } from 'node:crypto';
import { isGatewayError } from '../../../errors.ts';
import type {
  GatewayWebhook,
  GraphContext,
  SecretReplacement,
  TestEventOutcome,
} from '../../../graph/context.ts';
import type { UserError } from '../../../graph/user-error.ts';
import { afterWrite } from '../../settle.ts';
import { inPlace, type PlaceName } from '../actions.ts';
import type { Place } from '../rest.ts';
import { deleteTeam } from '../rest-teams.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhookSecret,
  listWebhooks,
  type NamedWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type Webhook,
} from '../rest-webhooks.ts';

/** The gateway has no PUBLIC_URL. */
export type GatewayAddressUnknown = UserError<'GatewayAddressUnknown', 'GATEWAY_ADDRESS_UNKNOWN'>;

interface Done {
  readonly webhook: Webhook;
  readonly testEvent: TestEventOutcome;
}

const addressUnknown: GatewayAddressUnknown = {
  kind: 'GatewayAddressUnknown',
  code: 'GATEWAY_ADDRESS_UNKNOWN',
  message: 'PUBLIC_URL is not set: the gateway does not know the address at which the service reaches it.',
};

/** In the service's form: `whsec_` and base64 of 24 to 64 bytes. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Makes or finds the webhook of this gateway, accepts its secret, and tries it out. The secret is accepted before the
 * service signs with it, so that no message is refused. One call after the other, so that two make one webhook; where two
 * gateways made one each at the same moment, the older one stays.
 * @returns null when there is no such team
 */
export function registerGatewayWebhook(context: GraphContext, name: PlaceName) {
  return inTurn(context, name, async (own, at) => {
    const found = await findOwn(context, own, at);
    if (found !== null) return await adopt(context, own, { found, replaced: null });
    const secret = newSecret();
    const settings = { url: own.url, secret, description: 'Labgraph' };
    const webhook = await sign(own, { place: nameOf(at), secret }, () =>
      createWebhook(context.service, at, settings),
    );
    return webhook === null ? null : await afterWrite(() => keepOldest(context, own, { webhook, secret }));
  });
}

/** Deletes a webhook that was just made where another gateway had made one before it. */
async function keepOldest(
  context: GraphContext,
  own: ReachableWebhook,
  { webhook, secret }: { readonly webhook: Webhook; readonly secret: string },
) {
  const { at, id } = webhook;
  const oldest = await findOwn(context, own, at);
  if (oldest === null || oldest.id === id) {
    return { ...(await tryOut(own, webhook, { secret, replaced: null })), isNew: true };
  }
  await deleteWebhook(context.service, { at, webhookId: id });
  return await adopt(context, own, { found: oldest, replaced: secret });
}

/** Accepts a secret, and gives it to the service. If that is refused, the secret is accepted no longer. */
async function sign<T>(
  own: ReachableWebhook,
  { place, secret }: { readonly place: string; readonly secret: string },
  give: () => Promise<T | null>,
): Promise<T | null> {
  await own.accept(place, secret);
  try {
    const done = await give();
    if (done === null) await own.dropSecrets(place, secret);
    return done;
  } catch (error) {
    if (isGatewayError(error) && error.mayBeDone === false) await own.dropSecrets(place, secret);
    throw error;
  }
}

/** Accepts the secret of a webhook that is there, and switches it on. */
async function adopt(
  context: GraphContext,
  own: ReachableWebhook,
  { found, replaced }: { readonly found: Webhook; readonly replaced: string | null },
) {
  const { at } = found;
  const named = { at, webhookId: found.id };
  const secret = await getWebhookSecret(context.service, named);
  if (secret === null) return null;
  await own.accept(nameOf(at), secret);
  const webhook = found.isDisabled
    ? await updateWebhook(context.service, named, { isDisabled: false })
    : found;
  if (webhook === null) return null;
  return { ...(await afterWrite(() => tryOut(own, webhook, { secret, replaced }))), isNew: false };
}

/**
 * Deletes a webhook. Where it is the one of this gateway, or none is left that points at it, its secrets are accepted no
 * longer: also at the second call, when the answer to the first was lost.
 * @returns null when there is no such webhook
 */
export async function deleteWebhookWithSecrets(context: GraphContext, named: NamedWebhook) {
  const { service, gatewayWebhook: own } = context;
  const place = nameOf(named.at);
  if (own === null || own.url === null || !own.hasSecrets(place)) return await deleteWebhook(service, named);
  const current = await findOwn(context, { ...own, url: own.url }, named.at);
  const done = await deleteWebhook(service, named);
  if (current === null || (done !== null && current.id === named.webhookId))
    await afterWrite(() => own.dropSecrets(place));
  return done;
}

const environments = ['sandbox', 'production'];

/**
 * Deletes a team. The secrets of this gateway's webhooks in it are accepted no longer.
 * @returns null when there is no such team
 */
export async function deleteTeamWithSecrets(
  { service, gatewayWebhook: own }: GraphContext,
  at: { readonly orgId: string; readonly teamId: string },
) {
  const done = await deleteTeam(service, at);
  if (done === null) return null;
  const places = environments.map((environment) => nameOf({ ...at, environment }));
  for (const place of places) if (own?.hasSecrets(place)) await afterWrite(() => own.dropSecrets(place));
  return done;
}

/**
 * Gives the webhook of this gateway a new secret. The new one is accepted before the service has it, and the old one for as
 * long as the service signs with both.
 * @returns null when there is no such team or webhook
 */
export function rotateGatewayWebhookSecret(context: GraphContext, name: PlaceName) {
  return inTurn(context, name, async (own, at) => {
    const webhook = await findOwn(context, own, at);
    if (webhook === null) return null;
    const named = { at, webhookId: webhook.id };
    const old = await getWebhookSecret(context.service, named);
    if (old === null) return null;
    const secret = newSecret();
    await own.accept(nameOf(at), old);
    const done = await sign(own, { place: nameOf(at), secret }, () =>
      rotateWebhookSecret(context.service, named, secret),
    );
    return done === null ? null : await afterWrite(() => tryOut(own, webhook, { secret, replaced: old }));
  });
}

async function tryOut(
  own: ReachableWebhook,
  webhook: Webhook,
  replacement: SecretReplacement,
): Promise<Done> {
  await own.replaceOthers(nameOf(webhook.at), replacement);
  return { webhook, testEvent: await own.sendTestEvent(webhook.at.teamId, replacement.secret) };
}

type ReachableWebhook = GatewayWebhook & { readonly url: string };

async function inTurn<T>(
  context: GraphContext,
  name: PlaceName,
  run: (own: ReachableWebhook, at: Place) => Promise<T | null>,
): Promise<T | GatewayAddressUnknown | null> {
  const { gatewayWebhook: own } = context;
  if (own === null || own.url === null) return addressUnknown;
  const reachable = { ...own, url: own.url };
  return await own.inTurn(() => inPlace(context, name, (at) => run(reachable, at)));
}

function nameOf({ teamId, environment }: Pick<Place, 'teamId' | 'environment'>): string {
  return `${teamId.toLowerCase()} ${environment}`;
}

/** A service that never ends its list must not keep the gateway busy. */
const maxPages = 50;

/** The webhook that points at this gateway; of several the oldest. */
async function findOwn(
  { service }: GraphContext,
  { url }: ReachableWebhook,
  at: Place,
): Promise<Webhook | null> {
  let [cursor, oldest]: [string | null, Webhook | null] = [null, null];
  for (let page = 0; page < maxPages; page += 1) {
    const { rows, nextCursor }: Awaited<ReturnType<typeof listWebhooks>> = await listWebhooks(service, at, {
      cursor,
      limit: 100,
    });
    const found = rows.filter((row) => row !== null).filter((row) => isSameAddress(row.url, url));
    oldest = [...found, ...(oldest === null ? [] : [oldest])].toSorted(byAge)[0] ?? null;
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return oldest;
}

function byAge(one: Webhook, other: Webhook): number {
  const [age, otherAge] = [one, other].map(({ createdAt, id }) => `${createdAt?.toISOString() ?? ''} ${id}`);
  return (age ?? '') < (otherAge ?? '') ? -1 : 1;
}

function isSameAddress(one: string | null, other: string): boolean {
  return one !== null && URL.canParse(one) && new URL(one).href === new URL(other).href;
}
