import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { WebhookEndpoint } from '../management/state.ts';
import type { OutgoingMessage } from '../world/state.ts';
import { Deliveries } from './deliveries.ts';
import { type Endpoints, signingKeys } from './endpoints.ts';
import { createEventHubsDestination, isEventHubsAddress } from './event-hubs.ts';
import { isPubSubAddress, pushEvent } from './pubsub.ts';
import { type BrokerDestination, createRabbitDestination, isRabbitAddress } from './rabbitmq.ts';

/** Faults of delivery; a test or the demo turns them on. */
export interface WebhookKnobs {
  /** Each message is sent twice under the same id. */
  duplicate: boolean;
  /** A message is sent after the next one; without a next one, by `settled()`. */
  reorder: boolean;
  /** The next messages, or those that the predicate picks, are never sent, as if lost. */
  drop: number | ((message: { readonly eventType: string; readonly orderId: string | null }) => boolean);
  /** Messages are signed with a wrong secret. */
  wrongSignature: boolean;
}

/** Whether this message is dropped; counts down. */
function takeDrop(
  knobs: WebhookKnobs,
  message: { readonly eventType: string; readonly orderId: string | null },
): boolean {
  if (typeof knobs.drop === 'function') return knobs.drop(message);
  if (knobs.drop <= 0) return false;
  knobs.drop -= 1;
  return true;
}

/** The longest wait for a receiver's answer (public service: 15 s). */
const answerTimeoutMs = 15_000;

/** One attempt to deliver a message. */
interface Attempt {
  readonly endpoint: WebhookEndpoint;
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
}

function isBrokerAddress(url: string): boolean {
  return isRabbitAddress(url) || isEventHubsAddress(url);
}

/** One signature for each secret, in the form of the header (Svix: separated by spaces). */
function signaturesOf({ messageId, body }: OutgoingMessage, secrets: readonly string[], at: Date): string {
  return secrets.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' ');
}

/**
 * Posts the message once, signed at this moment. True when the receiver answered 2xx in time; a redirect is
 * a failure and is not followed (public service: delivery).
 */
async function postSigned(message: OutgoingMessage, attempt: Attempt): Promise<boolean> {
  const at = new Date();
  try {
    const response = await fetch(attempt.endpoint.url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([attempt.signal, AbortSignal.timeout(answerTimeoutMs)]),
      headers: {
        'user-agent': 'labgraph-sandbox',
        ...attempt.endpoint.headers,
        'content-type': 'application/json',
        'svix-id': message.messageId,
        'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
        'svix-signature': signaturesOf(message, attempt.secrets, at),
      },
      body: message.body,
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Waits before the second to the eighth attempt, in seconds (public service: about 27.6 hours in all). */
const retryWaitsSeconds = [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600];

// Valid in form, but no receiver has it: receivers must refuse its signatures.
const wrongSecret = `whsec_${Buffer.from('a secret that no receiver knows!').toString('base64')}`;

/** The outcome of one message; `unaddressed` without an endpoint for its type. */
export interface SentMessage {
  readonly messageId: string;
  readonly eventType: string;
  readonly orderId: string | null;
  /** Posts over all addresses, first tries, retries and duplicates alike. */
  readonly attempts: number;
  readonly outcome: 'pending' | 'delivered' | 'given_up' | 'dropped' | 'unaddressed';
}

/** The sender's settings and callbacks. */
interface SenderOptions {
  readonly endpoints: Endpoints;
  readonly speed: number;
  /** Called once for each message that will never be tried again. */
  readonly onDone: (message: OutgoingMessage) => void;
}

type Entry = { -readonly [Key in keyof SentMessage]: SentMessage[Key] };

interface Job {
  readonly message: OutgoingMessage;
  readonly entry: Entry;
  readonly ready: Promise<unknown>;
}

/**
 * Delivers messages to every endpoint that takes them: those of one order in sequence (first attempts only),
 * those of different orders concurrently, with the retries of the public service.
 */
export class WebhookSender {
  readonly knobs: WebhookKnobs = { duplicate: false, reorder: false, drop: 0, wrongSignature: false };
  readonly sent: Entry[] = [];
  readonly deliveries = new Deliveries();
  readonly #options: SenderOptions;
  readonly #brokers = new Map<string, BrokerDestination>();
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<unknown>>();
  readonly #lastOfQueue = new Map<string, Promise<unknown>>();
  #waiting: OutgoingMessage[] = [];
  #held: Job | null = null;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** @throws Error for an address that cannot be a receiver's */
  register(url: string): void {
    const { href } = new URL(url);
    if (isBrokerAddress(href)) this.#brokerAt(href);
    this.#options.endpoints.register(href);
    this.release();
  }

  /** Messages of an earlier run; they are sent as soon as there is an endpoint for them. */
  resume(messages: readonly OutgoingMessage[]): void {
    this.#waiting.push(...messages);
    this.release();
  }

  /** Sends the messages of an earlier run for which there is an endpoint by now. */
  release(): void {
    const waiting = this.#waiting;
    const hasReceiver = ({ eventType }: OutgoingMessage) =>
      this.#options.endpoints.receiversOf(eventType).length > 0;
    this.#waiting = waiting.filter((message) => !hasReceiver(message));
    for (const message of waiting.filter(hasReceiver)) this.send(message, Promise.resolve());
  }

  /** Sends the message once `ready` (its state is saved) has settled. */
  send(message: OutgoingMessage, ready: Promise<unknown>): void {
    const { messageId, eventType, orderId } = message;
    const entry: Entry = { messageId, eventType, orderId, attempts: 0, outcome: 'pending' };
    this.sent.push(entry);
    const job = { message, entry, ready };
    if (takeDrop(this.knobs, message)) this.#finish(job, 'dropped');
    else if (this.knobs.reorder && !this.#held) this.#held = job;
    else this.#releaseHeld(this.#dispatch(job));
  }

  /** Makes `settled()` wait for work that will send messages later. */
  track(work: Promise<unknown>): void {
    this.#open.add(work);
    const remove = () => this.#open.delete(work);
    work.then(remove, remove);
  }

  /** Resolves when no delivery is in flight any more; a message held back for its successor is sent now. */
  async settled(): Promise<void> {
    this.#releaseHeld(Promise.resolve());
    while (this.#open.size > 0) {
      await Promise.allSettled([...this.#open]);
      this.#releaseHeld(Promise.resolve());
    }
  }

  /** Stops retries and attempts under way; undelivered messages stay pending. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#brokers.values()].map((broker) => broker.close()));
    await Promise.allSettled([...this.#open]);
  }

  #brokerAt(url: string): BrokerDestination {
    const create = isRabbitAddress(url) ? createRabbitDestination : createEventHubsDestination;
    const broker = this.#brokers.get(url) ?? create(url);
    this.#brokers.set(url, broker);
    return broker;
  }

  #releaseHeld(after: Promise<unknown>): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    void this.#dispatch({ ...held, ready: Promise.allSettled([held.ready, after]) });
  }

  /** Starts delivery to all endpoints that take the message; the promise settles after the first attempts. */
  #dispatch(job: Job): Promise<unknown> {
    const receivers = this.#options.endpoints.receiversOf(job.message.eventType);
    if (receivers.length === 0) {
      this.#finish(job, 'unaddressed');
      return Promise.resolve();
    }
    const firsts: Promise<boolean>[] = [];
    const deliveries = receivers.map((endpoint) => {
      const first = this.#queue(endpoint, job);
      firsts.push(first);
      return this.#retry(endpoint, job, first);
    });
    const done = Promise.all(deliveries).then((delivered) => {
      if (this.#closing.signal.aborted) return;
      this.#finish(job, delivered.every(Boolean) ? 'delivered' : 'given_up');
    });
    this.track(done);
    return Promise.allSettled(firsts);
  }

  #queue(endpoint: WebhookEndpoint, job: Job): Promise<boolean> {
    const key = `${endpoint.id} ${job.message.orderId ?? job.message.messageId}`;
    const before = this.#lastOfQueue.get(key) ?? Promise.resolve();
    const first = Promise.allSettled([before, job.ready]).then(() => this.#try(endpoint, job));
    this.#lastOfQueue.set(key, first);
    void first.finally(() => {
      if (this.#lastOfQueue.get(key) === first) this.#lastOfQueue.delete(key);
    });
    return first;
  }

  /** True once an attempt has succeeded, false when all have failed, the endpoint is gone or the sender closes. */
  async #retry(endpoint: WebhookEndpoint, job: Job, first: Promise<boolean>): Promise<boolean> {
    if (await first) return true;
    const { signal } = this.#closing;
    for (const seconds of retryWaitsSeconds) {
      const waitMs = (seconds * 1000) / this.#options.speed;
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || !this.#options.endpoints.isOpen(endpoint)) return false;
      if (await this.#try(endpoint, job)) return true;
    }
    return false;
  }

  async #try(endpoint: WebhookEndpoint, job: Job): Promise<boolean> {
    // Deleted or disabled while the message waited for the one before it.
    if (!this.#options.endpoints.isOpen(endpoint)) return false;
    const posts = this.knobs.duplicate ? 2 : 1;
    let delivered = false;
    for (let post = 0; post < posts && !this.#closing.signal.aborted; post += 1) {
      job.entry.attempts += 1;
      // Also an error is a failed attempt: it must not end the process.
      const ok = await this.#deliver(endpoint, job.message).catch(() => false);
      this.deliveries.add(ok ? 'delivered' : 'failed', Date.now());
      delivered ||= ok;
    }
    return delivered;
  }

  /** Sends the message once, in the form of its destination. */
  async #deliver(endpoint: WebhookEndpoint, message: OutgoingMessage): Promise<boolean> {
    const { url: address } = endpoint;
    const { signal } = this.#closing;
    const isForged = this.knobs.wrongSignature;
    if (isBrokerAddress(address)) return await this.#brokerAt(address).publish(message);
    if (isPubSubAddress(address)) return await pushEvent(message, { address, isForged, signal });
    const secrets = isForged ? [wrongSecret] : signingKeys(endpoint, Date.now());
    return await postSigned(message, { endpoint, secrets, signal });
  }

  #finish(job: Job, outcome: Entry['outcome']): void {
    job.entry.outcome = outcome;
    this.#options.onDone(job.message);
  }
}
