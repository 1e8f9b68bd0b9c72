import { randomBytes } from 'node:crypto';
import type { GatewayWebhook, GraphContext, TestEventOutcome } from '../../../graph/context.ts';
import type { UserError } from '../../../graph/user-error.ts';
import { findPlace, type PlaceName } from '../actions.ts';
import type { Place } from '../rest.ts';
import {
  createWebhook,
  getWebhookSecret,
  listWebhooks,
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
 * service signs with it, so that no message is refused. One call after the other, so that two make one webhook.
 * @returns null when there is no such team
 */
export function registerGatewayWebhook(context: GraphContext, name: PlaceName) {
  return inTurn(context, name, async (own, at) => {
    const found = await findOwn(context, own, at);
    if (found === null) {
      const secret = newSecret();
      await own.accept(nameOf(at), secret);
      const webhook = await createWebhook(context.service, at, {
        url: own.url,
        secret,
        description: 'Labgraph',
      });
      return webhook === null ? null : { ...(await tryOut(own, webhook, secret)), isNew: true };
    }
    const named = { at, webhookId: found.id };
    const secret = await getWebhookSecret(context.service, named);
    if (secret === null) return null;
    await own.accept(nameOf(at), secret);
    const webhook = found.isDisabled
      ? await updateWebhook(context.service, named, { isDisabled: false })
      : found;
    return webhook === null ? null : { ...(await tryOut(own, webhook, secret)), isNew: false };
  });
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
    await own.accept(nameOf(at), secret);
    const done = await rotateWebhookSecret(context.service, named, secret);
    return done === null ? null : await tryOut(own, webhook, secret);
  });
}

async function tryOut(own: ReachableWebhook, webhook: Webhook, secret: string): Promise<Done> {
  await own.replaceOthers(nameOf(webhook.at), secret);
  return { webhook, testEvent: await own.sendTestEvent(webhook.at.teamId, secret) };
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
  return await own.inTurn(async () => {
    const at = await findPlace(context, name);
    return at === null ? null : await run(reachable, at);
  });
}

function nameOf({ teamId, environment }: Place): string {
  return `${teamId} ${environment}`;
}

/** A service that never ends its list must not keep the gateway busy. */
const maxPages = 50;

/** The webhook that points at this gateway. */
async function findOwn(
  { service }: GraphContext,
  { url }: ReachableWebhook,
  at: Place,
): Promise<Webhook | null> {
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const { rows, nextCursor }: Awaited<ReturnType<typeof listWebhooks>> = await listWebhooks(service, at, {
      cursor,
      limit: 100,
    });
    const found = rows.find((row) => row !== null && isSameAddress(row.url, url));
    if (found) return found;
    if (nextCursor === null) return null;
    cursor = nextCursor;
  }
  return null;
}

function isSameAddress(one: string | null, other: string): boolean {
  return one !== null && URL.canParse(one) && new URL(one).href === new URL(other).href;
}
