import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Environment, faultsOf, key, secretText } from '../support/configuration.ts';

describe('in production, a secret', () => {
  const tooShort = (name: string, least: number) =>
    `${name} is too short: ${least} characters are the least.`;
  const guessed = (name: string) =>
    `${name} is easily guessed: make it of random bytes (openssl rand -base64 32).`;
  const bytes = (text: string) => Buffer.from(text).toString('base64');

  test.each<readonly [Environment, string]>([
    [{ SERVICE_API_KEY: 'k3y-Xq91' }, tooShort('SERVICE_API_KEY', 16)],
    [{ SERVICE_API_KEY: 'your-service-api-key' }, guessed('SERVICE_API_KEY')],
    [{ WEBHOOK_SECRETS: `whsec_${bytes('aB3dEf9h1jKl')}` }, tooShort('WEBHOOK_SECRETS', 22)],
    [{ WEBHOOK_SECRETS: `whsec_${'a'.repeat(32)}` }, guessed('WEBHOOK_SECRETS')],
    [{ WEBHOOK_SECRETS: `whsec_${bytes('changeme changeme secret')}` }, guessed('WEBHOOK_SECRETS')],
    [{ GATEWAY_API_KEYS: 'Xq91-a7Tb' }, tooShort('GATEWAY_API_KEYS', 24)],
    [{ GATEWAY_API_KEYS: `${secretText()},labgraph-gateway-api-key-2026` }, guessed('GATEWAY_API_KEYS')],
    [{ GATEWAY_API_KEYS: `sha256:${'0'.repeat(64)}` }, guessed('GATEWAY_API_KEYS')],
    [{ GATEWAY_API_KEYS: 'a-long-and-telling-label=Xq91-a7Tb' }, tooShort('GATEWAY_API_KEYS', 24)],
    [{ VIEWER_TOKEN_SECRET: 'x'.repeat(40) }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: 'aXb7'.repeat(10) }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: 'correct-horse-'.repeat(3) }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: 'changemechangemechangemechangeme1' }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: 'My-Super-Secret-Viewer-Token-Secret!' }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: 'abcdefghijklmnopqrstuvwxyz0123456789' }, guessed('VIEWER_TOKEN_SECRET')],
    [{ VIEWER_TOKEN_SECRET: '12345678901234567890123456789012' }, guessed('VIEWER_TOKEN_SECRET')],
    [{ EVENT_LOG_KEY: Buffer.alloc(32, 0).toString('base64') }, guessed('EVENT_LOG_KEY')],
    [{ EVENT_LOG_KEY: Buffer.alloc(32, 200).toString('base64') }, guessed('EVENT_LOG_KEY')],
    [
      { EVENT_LOG_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64') },
      guessed('EVENT_LOG_KEY'),
    ],
    [{ AUDIT_TRAIL_KEY: Buffer.alloc(32, 7).toString('base64') }, guessed('AUDIT_TRAIL_KEY')],
    [{ EVENT_LOG_KEY: bytes('passwordpassword secret password') }, guessed('EVENT_LOG_KEY')],
  ])('that is weak is refused: %j', (env, fault) => {
    expect(faultsOf(env)).toEqual([fault]);
  });

  test('that equals another is refused, also by its hash or without its prefix', () => {
    const shared = secretText();
    const same = (name: string, other: string) =>
      `${name} is the same secret as ${other}: each must be its own.`;
    expect(faultsOf({ GATEWAY_API_KEYS: shared, VIEWER_TOKEN_SECRET: shared })).toEqual([
      same('VIEWER_TOKEN_SECRET', 'GATEWAY_API_KEYS'),
    ]);
    const hashed = `sha256:${createHash('sha256').update(shared).digest('hex')}`;
    expect(faultsOf({ SERVICE_API_KEY: shared, GATEWAY_API_KEYS: hashed })).toEqual([
      same('GATEWAY_API_KEYS', 'SERVICE_API_KEY'),
    ]);
    expect(faultsOf({ WEBHOOK_SECRETS: `whsec_${key.toString('base64')}` })).toEqual([
      same('EVENT_LOG_KEY', 'WEBHOOK_SECRETS'),
    ]);
    expect(faultsOf({ GATEWAY_API_KEYS: `billing=${shared},reports=${shared}` })).toEqual([
      'GATEWAY_API_KEYS lists one secret twice.',
    ]);
    expect(faultsOf({ GATEWAY_API_KEYS: `${shared},${shared}` })).toEqual([
      'GATEWAY_API_KEYS lists one secret twice.',
    ]);
  });

  test('is judged with all others at once, and none is shown', () => {
    const faults = faultsOf({
      SERVICE_API_KEY: 'canary',
      WEBHOOK_SECRETS: `whsec_${bytes('canary canary canary')}`,
      GATEWAY_API_KEYS: undefined,
      VIEWER_TOKEN_SECRET: 'canary'.repeat(6),
      EVENT_LOG_KEY: `${key.toString('base64')},${key.toString('base64')}`,
    });
    expect(faults).toEqual([
      'GATEWAY_API_KEYS is missing: with NODE_ENV=production nothing is generated.',
      tooShort('SERVICE_API_KEY', 16),
      guessed('WEBHOOK_SECRETS'),
      guessed('VIEWER_TOKEN_SECRET'),
      'EVENT_LOG_KEY lists one secret twice.',
    ]);
  });

  test('of random bytes is never taken for weak', () => {
    for (let index = 0; index < 500; index += 1) {
      const env = {
        SERVICE_API_KEY: randomBytes(16).toString('hex'),
        WEBHOOK_SECRETS: `whsec_${randomBytes(24).toString('base64')}`,
        GATEWAY_API_KEYS: randomBytes(18).toString('base64url'),
        VIEWER_TOKEN_SECRET: randomBytes(32).toString('hex'),
        EVENT_LOG_KEY: randomBytes(32).toString('base64'),
      };
      expect(faultsOf(env), JSON.stringify(env)).toEqual([]);
    }
  });

  test('may be a weak one outside production, for local trials', () => {
    expect(faultsOf({ NODE_ENV: undefined, GATEWAY_API_KEYS: 'test', SERVICE_API_KEY: 'test' })).toEqual([]);
  });
});
