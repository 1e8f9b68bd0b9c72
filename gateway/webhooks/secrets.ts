import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';

/** Where texts are stored, sealed, for all gateways over one event log. */
export interface SecretStore {
  /** All texts by their names; null for one that no key decrypts. */
  readonly readAll: () => Promise<ReadonlyMap<string, string | null>>;
  /** Seals the texts again that another key than the first has sealed, so that this key can be removed. */
  readonly sealAnew: () => Promise<void>;
  readonly write: (name: string, text: string) => Promise<void>;
  readonly drop: (name: string) => Promise<void>;
}

const storedShape = z.object({
  /** Which webhook it signs for. */
  place: z.string(),
  secret: z.string(),
  /** When it was accepted, in milliseconds of the epoch. */
  since: z.number(),
  /** Milliseconds of the epoch; null = until it is replaced. */
  until: z.number().nullable(),
});
type Stored = z.infer<typeof storedShape>;

/** A day, as the sandbox signs with a replaced secret (docs/service.md, 50g), and an hour for clocks that differ. */
const overlapMs = 25 * 3_600_000;
/** Longer than a secret is accepted before the service has it, although the clocks of gateways differ. */
const givingMs = 10 * 60_000;
/** The service's secrets have 24 to 64 bytes; fewer than these could be guessed. */
const minKeyBytes = 16;
/** Each secret costs an HMAC for each forged message. */
const maxSecrets = 100;
/** A secret that another gateway has ended is accepted for at most this much longer. */
const maxAgeMs = 3_600_000;

/**
 * The secrets that sign webhooks: those of WEBHOOK_SECRETS, and those that `registerGatewayWebhook` has stored in the event
 * log. Every gateway over one log accepts the same ones, also after a restart.
 */
export class WebhookSecrets {
  readonly #store: SecretStore;
  #configured: readonly string[];
  #stored: ReadonlyMap<string, Stored> = new Map();
  #accepted: readonly string[] = [];
  #acceptedUntil = 0;
  #readAt = 0;
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | null = null;

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  static async open(store: SecretStore, configured: readonly string[]): Promise<WebhookSecrets> {
    const secrets = new WebhookSecrets(store, configured);
    await store.sealAnew();
    await secrets.#refresh();
    return secrets;
  }

  private constructor(store: SecretStore, configured: readonly string[]) {
    this.#store = store;
    this.#configured = configured;
  }

  /**
   * The secrets that are accepted; another list when they have changed. With `now` they include all that another gateway has
   * stored before this call.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  async read(asOf: 'now' | 'lately'): Promise<readonly string[]> {
    if (asOf === 'now' || Date.now() >= this.#readAt + maxAgeMs) await this.#refresh();
    if (Date.now() >= this.#acceptedUntil) this.#choose();
    return this.#accepted;
  }

  useConfigured(secrets: readonly string[]): void {
    this.#configured = secrets;
    this.#choose();
  }

  /** Calls during a read share the next one, which begins after them. */
  #refresh(): Promise<void> {
    this.#nextReading ??= this.#reading.then(() => {
      this.#nextReading = null;
      return this.#read();
    });
    this.#reading = this.#nextReading.catch(() => undefined);
    return this.#nextReading;
  }

  /**
   * Accepts a secret, here and at every other gateway. Resolves when it is durable.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE, BAD_USER_INPUT for too many, and UPSTREAM_UNREADABLE for one that could be
   *   guessed
   */
  async accept(place: string, secret: string): Promise<void> {
    if (!isStrong(secret))
      throw new GatewayError(
        'UPSTREAM_UNREADABLE',
        'The service shows a secret that is too short or of another form.',
      );
    await this.#refresh();
    const known = [...this.#stored].find(([, each]) => each.place === place && each.secret === secret);
    if (known?.[1].until === null) return;
    if (known === undefined && this.#stored.size >= maxSecrets) {
      throw new GatewayError('BAD_USER_INPUT', `The gateway has ${maxSecrets} secrets of webhooks already.`);
    }
    const stored: Stored = { place, secret, since: Date.now(), until: null };
    await this.#store.write(known?.[0] ?? randomUUID(), JSON.stringify(stored));
    await this.#refresh();
  }

  /**
   * Ends the secrets of a webhook with which the service no longer signs: the one that it has replaced, and older others. A
   * young one stays: another gateway may be giving it to the service. Drops those that have ended.
   */
  async replaceOthers(
    place: string,
    { secret, replaced }: { readonly secret: string; readonly replaced: string | null },
  ): Promise<void> {
    await this.#refresh();
    const now = Date.now();
    for (const [name, stored] of this.#stored) {
      const isOver = stored.secret === replaced || stored.since < now - givingMs;
      if (stored.until !== null && stored.until < now) await this.#store.drop(name);
      else if (stored.place === place && stored.secret !== secret && stored.until === null && isOver)
        await this.#store.write(name, JSON.stringify({ ...stored, until: now + overlapMs }));
    }
    await this.#refresh();
  }

  has(place: string): boolean {
    return [...this.#stored.values()].some((stored) => stored.place === place);
  }

  /** Accepts no stored secret of a webhook any more, or only not this one. */
  async drop(place: string, secret?: string): Promise<void> {
    await this.#refresh();
    for (const [name, stored] of this.#stored)
      if (stored.place === place && stored.secret === (secret ?? stored.secret)) await this.#store.drop(name);
    await this.#refresh();
  }

  async #read(): Promise<void> {
    const readAt = Date.now();
    const stored = new Map<string, Stored>();
    for (const [name, text] of await this.#store.readAll()) {
      // Another gateway may have encrypted a known secret anew, with an EVENT_LOG_KEY that this gateway does not have yet.
      const known = text === null ? this.#stored.get(name) : storedShape.parse(JSON.parse(text));
      if (known !== undefined) stored.set(name, known);
    }
    this.#stored = stored;
    this.#readAt = readAt;
    this.#choose();
  }

  #choose(): void {
    const now = Date.now();
    const active = [...this.#stored.values()].filter(({ until }) => until === null || until > now);
    const secrets = [...new Set([...this.#configured, ...active.map(({ secret }) => secret)])];
    this.#acceptedUntil = Math.min(...active.map(({ until }) => until ?? Number.POSITIVE_INFINITY));
    if (secrets.join() !== this.#accepted.join()) this.#accepted = secrets;
  }
}

function isStrong(secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return secret.startsWith('whsec_') && key.length >= minKeyBytes;
}
