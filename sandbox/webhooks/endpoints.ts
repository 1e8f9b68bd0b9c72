import { Webhook } from 'standardwebhooks';
import { homeEnvironment, type WebhookEndpoint } from '../management/state.ts';
import { seededUuid } from '../world/ids.ts';
import type { World } from '../world/world.ts';

/** How long a replaced secret still signs (Svix: a day). */
const secretOverlapMs = 24 * 60 * 60 * 1000;

/** A new secret in Svix' form has 24 to 64 bytes. */
export const secretPattern = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

interface EndpointOptions {
  readonly url: string;
  readonly secret: string;
  readonly now: number;
}

/** An endpoint of the world's team for all events; the caller puts it into the state. */
export function createEndpoint(world: World, { url, secret, now }: EndpointOptions): WebhookEndpoint {
  const { state } = world;
  state.management.made += 1;
  return {
    id: `ep_${seededUuid(state.seed, 'endpoint', state.management.made).replaceAll('-', '')}`,
    teamId: world.teamId,
    environment: homeEnvironment,
    createdAt: now,
    isRegistered: false,
    url: new URL(url).href,
    description: '',
    rateLimit: null,
    disabled: false,
    filterTypes: null,
    headers: {},
    secrets: [{ key: secret, endsAt: null }],
    updatedAt: now,
  };
}

/** Makes the key the first secret; the one before it signs beside it for a day. At most five are held. */
export function rotateSecret(endpoint: WebhookEndpoint, key: string, now: number): void {
  const older = endpoint.secrets
    .filter((secret) => secret.key !== key && (secret.endsAt === null || secret.endsAt > now))
    .map((secret) => ({ ...secret, endsAt: secret.endsAt ?? now + secretOverlapMs }));
  endpoint.secrets = [{ key, endsAt: null }, ...older].slice(0, 5);
  endpoint.updatedAt = now;
}

/** The keys that sign at this time, newest first. */
export function signingKeys({ secrets }: WebhookEndpoint, now: number): readonly string[] {
  return secrets.filter(({ endsAt }) => endsAt === null || endsAt > now).map(({ key }) => key);
}

/** The endpoints that events of the world go to: those of its team, made by the process or the management interface. */
export class Endpoints {
  readonly #world: World;
  readonly #secret: string;

  /** @throws when the secret is malformed; it signs for the addresses of `register` */
  constructor(world: World, secret: string) {
    new Webhook(secret);
    this.#world = world;
    this.#secret = secret;
    const { webhooks } = world.state.management;
    webhooks.splice(0, webhooks.length, ...webhooks.filter(({ isRegistered }) => !isRegistered));
  }

  get #own(): readonly WebhookEndpoint[] {
    const { webhooks } = this.#world.state.management;
    return webhooks.filter(
      ({ teamId, environment }) => teamId === this.#world.teamId && environment === homeEnvironment,
    );
  }

  /** Adds an address for all events; adding it again changes nothing. */
  register(url: string): void {
    const { href } = new URL(url);
    if (this.#own.some((endpoint) => endpoint.url === href)) return;
    const endpoint = createEndpoint(this.#world, { url: href, secret: this.#secret, now: Date.now() });
    this.#world.state.management.webhooks.push({ ...endpoint, isRegistered: true });
  }

  /** The endpoints that take events of this type now. */
  receiversOf(eventType: string): readonly WebhookEndpoint[] {
    return this.#own.filter(
      ({ disabled, filterTypes }) => !disabled && (filterTypes?.includes(eventType) ?? true),
    );
  }

  /** Whether the endpoint is still there and takes events. */
  isOpen(endpoint: WebhookEndpoint): boolean {
    return !endpoint.disabled && this.#own.includes(endpoint);
  }
}
