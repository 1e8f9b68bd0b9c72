import { generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { OutgoingMessage } from '../world/state.ts';

/** Larger events are compressed (public service: `auto`). */
const maxPlainBytes = 1024;
/** The usual acknowledgement deadline of a subscription. */
const answerTimeoutMs = 10_000;
/** The statuses that acknowledge a pushed message; no other 2xx does (Pub/Sub). */
const acknowledging = [102, 200, 201, 202, 204];

interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function createKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { id: hash('sha1', publicKey.export({ type: 'spki', format: 'der' })), privateKey, publicKey };
}

const keys: { own?: SigningKey; unpublished?: SigningKey } = {};

/** The key that signs the tokens of pushed messages, as a JWKS; one for each process, made when it is first needed. */
export function publishedKeys() {
  keys.own ??= createKey();
  const jwk = keys.own.publicKey.export({ format: 'jwk' });
  return { keys: [{ ...jwk, kid: keys.own.id, alg: 'RS256', use: 'sig' }] };
}

/**
 * Whether an address is that of a push subscription: `pubsub+https://host/path?subscription=...`, with `audience` (the
 * address itself where left out), `email`, `issuer` and `ordering=true` where wanted.
 */
export function isPubSubAddress(url: string): boolean {
  return url.startsWith('pubsub+');
}

/** The settings of a push subscription. */
interface Subscription {
  readonly endpoint: string;
  readonly name: string;
  readonly isOrdered: boolean;
  readonly claims: Readonly<Record<string, string | boolean>>;
}

function readSubscription(address: string): Subscription {
  const url = new URL(address.slice('pubsub+'.length));
  const take = (name: string, usual: string) => {
    const value = url.searchParams.get(name) ?? usual;
    url.searchParams.delete(name);
    return value;
  };
  const name = take('subscription', 'projects/example/subscriptions/labgraph');
  const isOrdered = take('ordering', 'false') === 'true';
  const email = take('email', 'push@example.iam.gserviceaccount.com');
  const iss = take('issuer', 'https://accounts.google.com');
  const audience = take('audience', '');
  const claims = { iss, aud: audience || url.href, azp: email, sub: email, email, email_verified: true };
  return { endpoint: url.href, name, isOrdered, claims };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The OIDC token of a push request (Pub/Sub: RS256, one hour). */
function createToken(claims: Subscription['claims'], key: SigningKey): string {
  const iat = Math.floor(Date.now() / 1000);
  const header = encode({ alg: 'RS256', kid: key.id, typ: 'JWT' });
  const signed = `${header}.${encode({ ...claims, iat, exp: iat + 3600 })}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key.privateKey).toString('base64url')}`;
}

/** When each message was published: every push of it says the same. */
const publishTimes = new WeakMap<OutgoingMessage, string>();

/**
 * The body of a push (Pub/Sub). The attributes are the service's: no message id of the webhook, and an idempotency
 * key that is the same for equal events only.
 */
function envelopeOf(message: OutgoingMessage, { name, isOrdered }: Subscription) {
  const { messageId, eventType, body } = message;
  const plain = Buffer.from(body);
  const isLarge = plain.length > maxPlainBytes;
  const publishTime = publishTimes.get(message) ?? new Date().toISOString();
  publishTimes.set(message, publishTime);
  const { user_id }: { readonly user_id?: string } = JSON.parse(body);
  return {
    message: {
      data: (isLarge ? gzipSync(plain) : plain).toString('base64'),
      attributes: {
        'event-type': eventType,
        'blob-type': 'json',
        ...(isLarge ? { 'blob-codec': 'gzip' } : {}),
        'idempotency-key': hash('sha256', body).slice(0, 32),
      },
      messageId: messageId.replaceAll(/\D/g, ''),
      publishTime,
      ...(isOrdered && user_id !== undefined ? { orderingKey: user_id } : {}),
    },
    subscription: name,
  };
}

interface Push {
  readonly address: string;
  /** Signed with a key that is not published. */
  readonly isForged: boolean;
  readonly signal: AbortSignal;
}

/** Pushes the event once, as Pub/Sub does for the service. True when the receiver has acknowledged it in time. */
export async function pushEvent(message: OutgoingMessage, push: Push): Promise<boolean> {
  const subscription = readSubscription(push.address);
  const slot = push.isForged ? 'unpublished' : 'own';
  const key = keys[slot] ?? createKey();
  keys[slot] = key;
  try {
    const response = await fetch(subscription.endpoint, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([push.signal, AbortSignal.timeout(answerTimeoutMs)]),
      headers: {
        authorization: `Bearer ${createToken(subscription.claims, key)}`,
        'content-type': 'application/json',
        'user-agent': 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)',
      },
      body: JSON.stringify(envelopeOf(message, subscription)),
    });
    await response.body?.cancel();
    return acknowledging.includes(response.status);
  } catch {
    return false;
  }
}
