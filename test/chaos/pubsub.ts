import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { startIdentityProvider } from '../support/identity-provider.ts';
import type { Broker } from './broker.ts';

const audience = 'https://gateway.example.com/intake/pubsub';
const email = 'push@example.iam.gserviceaccount.com';
const timeoutMs = 2000;
const maxPlainBytes = 1024;

/** A push subscription of Google Pub/Sub: keys and tokens as Google's, and one push for each call. */
export async function openPubSub(): Promise<Broker> {
  const google = await startIdentityProvider();
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ aud: audience, email, email_verified: true })
    .setIssuer('https://accounts.google.com')
    .setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
    .setIssuedAt(now)
    .setExpirationTime(now + 86_400)
    .sign(google.keyOf('RS256').privateKey);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    server: null,
    env: {
      INTAKE_PUBSUB_AUDIENCE: audience,
      INTAKE_PUBSUB_SERVICE_ACCOUNT: email,
      INTAKE_PUBSUB_JWKS_URL: google.keysUrl,
    },
    publish: (body, gateway) =>
      new Promise((resolve) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const options = { method: 'POST', agent, headers, timeout: timeoutMs };
        const pushing = request(`${gateway}/intake/pubsub`, options, (response) => {
          response.resume();
          resolve(response.statusCode === 204);
        });
        pushing.on('timeout', () => pushing.destroy(new Error('timeout')));
        pushing.on('error', () => resolve(false));
        pushing.end(JSON.stringify({ message: wrap(body), subscription: 'projects/p/subscriptions/s' }));
      }),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await google[Symbol.asyncDispose]();
    },
  };
}

function wrap(body: string) {
  const plain = Buffer.from(body);
  const isLarge = plain.length > maxPlainBytes;
  return {
    data: (isLarge ? gzipSync(plain) : plain).toString('base64'),
    attributes: { 'blob-type': 'json', ...(isLarge ? { 'blob-codec': 'gzip' } : {}) },
  };
}
