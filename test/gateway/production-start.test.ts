import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { complete } from '../support/configuration.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

/** Its service is nowhere: it is not asked before anybody asks. */
const whole = () => ({ ...complete, PORT: '0', SERVICE_URL: 'http://127.0.0.1:9' });

test('a gateway in production starts with strong secrets, also when all of them are in files', async () => {
  using folder = makeFolder();
  const { NODE_ENV, PORT, SERVICE_URL, ...secrets } = whole();
  const files = Object.entries(secrets).map(([name, value]) => {
    writeFileSync(folder.file(name), `${value}\n`);
    return [`${name}_FILE`, folder.file(name)];
  });
  const env = { NODE_ENV, PORT, SERVICE_URL, ...Object.fromEntries(files) };
  const gateway = await startGatewayProcess(folder.path, env);
  const authorization = `Bearer ${secrets.GATEWAY_API_KEYS}`;
  const query = encodeURIComponent('{ viewer { kind } }');
  const answer = await fetch(`${gateway.url}/graphql?query=${query}`, { headers: { authorization } });
  expect(await answer.json()).toEqual({ data: { viewer: { kind: 'TEAM' } } });
  expect(gateway.output.join('\n')).not.toContain(secrets.GATEWAY_API_KEYS);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('and refuses to with missing, weak and shared ones: it names all at once and shows none', async () => {
  using folder = makeFolder();
  const { VIEWER_TOKEN_SECRET: _, ...rest } = whole();
  const env = {
    ...rest,
    SERVICE_API_KEY: 'changeme-changeme-canary',
    WEBHOOK_SECRETS: `whsec_${'QUFB'.repeat(8)}`,
    EVENT_LOG_KEY: Buffer.alloc(32, 1).toString('base64'),
    GATEWAY_API_KEYS: `${rest.GATEWAY_API_KEYS},${rest.GATEWAY_API_KEYS}`,
  };
  const refusal = await startGatewayProcess(folder.path, env).catch((error: Error) => error.message);
  expect(refusal).toBe(
    [
      'The gateway ended with 1:',
      'Labgraph cannot start (CONFIG_INVALID):',
      '- VIEWER_TOKEN_SECRET is missing: with NODE_ENV=production nothing is generated.',
      '- SERVICE_API_KEY is easily guessed: make it of random bytes (openssl rand -base64 32).',
      '- WEBHOOK_SECRETS is easily guessed: make it of random bytes (openssl rand -base64 32).',
      '- EVENT_LOG_KEY is easily guessed: make it of random bytes (openssl rand -base64 32).',
      '- GATEWAY_API_KEYS lists one secret twice.',
    ].join('\n'),
  );
});
