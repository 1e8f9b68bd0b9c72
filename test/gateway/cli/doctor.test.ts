import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examine } from '../../../cli/doctor/doctor.ts';
import { readConfig } from '../../../gateway/config/config.ts';
import { callLabgraph } from '../../support/commands.ts';
import {
  complete,
  type Environment,
  savedSecrets,
  secretText,
  webhookSecret,
} from '../../support/configuration.ts';
import { runLabgraph } from '../../support/labgraph-command.ts';
import { findFreePort, listenAnywhere } from '../../support/listening.ts';
import { startRedis } from '../../support/redis.ts';
import { startSecureService } from '../../support/secure-service.ts';
import { startSound } from './sound.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const secrets = Object.entries(complete).filter(([name]) => /KEY|SECRET/.test(name));

let sound: Awaited<ReturnType<typeof startSound>>;
beforeAll(async () => {
  sound = await startSound();
});
afterAll(async () => await sound[Symbol.asyncDispose]());

async function find(env: Environment, folder = root) {
  const read = (more: Environment = {}) => readConfig({ ...env, ...more }, () => savedSecrets);
  const findings = await examine({ env, readConfig: read }, folder);
  for (const [, secret] of secrets) expect(JSON.stringify(findings)).not.toContain(secret);
  return findings;
}

const checks = [
  'node',
  'configuration',
  'production',
  'webhook secret',
  'origin',
  'port',
  'service',
  'clock',
  'event log',
  'audit trail',
  'public address',
  'widget',
];

test('a sound configuration has neither a fault nor a warning', async () => {
  const findings = async () => {
    const { text } = await callLabgraph(sound.env, 'doctor', '--json');
    return JSON.parse(text);
  };

  // The gateway asks the service whether it is ready, which on a busy machine takes more than one attempt.
  await expect
    .poll(findings)
    .toEqual(checks.map((check) => ({ check, ok: true, message: expect.stringMatching(/\w/), fix: null })));
});

interface Planted {
  readonly fault: string;
  /** The variables that are changed, and the folder in place of the gateway's. */
  readonly plant: (stack: AsyncDisposableStack) => Promise<Environment & { readonly folder?: string }>;
  readonly found: readonly [check: string, result: 'fault' | 'warning', message: RegExp];
}

async function startAnswering(stack: AsyncDisposableStack, headers: Readonly<Record<string, string>>) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end('{"orders":[]}');
  });
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return await listenAnywhere(server);
}

const table: readonly Planted[] = [
  {
    fault: 'a service address with a wrong path',
    plant: async () => ({ SERVICE_URL: `${sound.env.SERVICE_URL}/elsewhere` }),
    found: ['service', 'fault', /no list of orders/],
  },
  {
    fault: 'a service address where nothing answers',
    plant: async () => ({ SERVICE_URL: `http://127.0.0.1:${await findFreePort()}` }),
    found: ['service', 'fault', /does not answer/],
  },
  {
    fault: 'a key that the service refuses',
    plant: async () => ({ SERVICE_API_KEY: secretText() }),
    found: ['service', 'fault', /refuses the key/],
  },
  {
    fault: 'a weak secret',
    plant: async () => ({ VIEWER_TOKEN_SECRET: 'a'.repeat(40) }),
    found: ['configuration', 'fault', /VIEWER_TOKEN_SECRET is easily guessed/],
  },
  {
    fault: 'a webhook secret that nobody has set',
    plant: async () => ({ NODE_ENV: undefined, WEBHOOK_SECRETS: undefined }),
    found: ['webhook secret', 'fault', /WEBHOOK_SECRETS is not set/],
  },
  {
    fault: 'a webhook secret that the running gateway does not have',
    plant: async () => ({ WEBHOOK_SECRETS: webhookSecret() }),
    found: ['public address', 'fault', /refuses the first of WEBHOOK_SECRETS/],
  },
  {
    fault: 'a public address that reaches something else',
    plant: async () => ({ PUBLIC_URL: sound.env.SERVICE_URL }),
    found: ['public address', 'fault', /something else/],
  },
  {
    fault: 'a folder for the event log that cannot be written',
    plant: async () => {
      writeFileSync(sound.folder.file('file'), '');
      return { EVENT_LOG: `sqlite:${sound.folder.file('file')}/events.db` };
    },
    found: ['event log', 'fault', /cannot be written \(ENOTDIR\)/],
  },
  {
    fault: 'a Redis that does not store what it acknowledges',
    plant: async (stack) => ({ EVENT_LOG: stack.use(await startRedis(['--appendonly', 'no'])).newUrl() }),
    found: ['event log', 'fault', /CONFIG SET appendonly yes/],
  },
  {
    fault: 'a clock that is ten minutes ahead',
    plant: async (stack) => {
      const date = new Date(Date.now() - 600_000).toUTCString();
      return { SERVICE_URL: await startAnswering(stack, { date }) };
    },
    found: ['clock', 'fault', /It is \d{3} s ahead of/],
  },
  {
    fault: 'no origin',
    plant: async () => ({ ALLOWED_ORIGINS: undefined }),
    found: ['origin', 'warning', /ALLOWED_ORIGINS is empty/],
  },
  {
    fault: 'an origin with a path',
    plant: async () => ({ ALLOWED_ORIGINS: 'https://app.example.com/page' }),
    found: ['configuration', 'fault', /ALLOWED_ORIGINS must list exact origins/],
  },
  {
    fault: 'a widget that is not built',
    plant: async () => {
      mkdirSync(sound.folder.file('gateway'), { recursive: true });
      writeFileSync(sound.folder.file('gateway/main.ts'), '');
      return { PORT: String(await findFreePort()), folder: sound.folder.path };
    },
    found: ['widget', 'fault', /It is not built/],
  },
  {
    fault: 'a real service without NODE_ENV=production',
    plant: async () => ({ NODE_ENV: undefined, SERVICE_URL: 'http://service.invalid' }),
    found: ['production', 'fault', /NODE_ENV is not production/],
  },
  {
    fault: 'a port that another program has',
    plant: async (stack) => ({ PORT: new URL(await startAnswering(stack, {})).port }),
    found: ['port', 'fault', /Another program listens/],
  },
  {
    fault: 'a management key that the service refuses',
    plant: async () => ({
      SERVICE_MANAGEMENT_URL: sound.sandbox.managementUrl,
      SERVICE_MANAGEMENT_KEY: secretText(),
      MANAGEMENT_API_KEYS: `ops=${secretText()}`,
    }),
    found: ['management', 'fault', /refuses the key/],
  },
  {
    fault: 'no webhook at the service that points at the gateway',
    plant: async () => ({
      SERVICE_MANAGEMENT_URL: sound.sandbox.managementUrl,
      SERVICE_MANAGEMENT_KEY: sound.sandbox.managementKey,
      MANAGEMENT_API_KEYS: `ops=${secretText()}`,
      SERVICE_ORG_ID: sound.sandbox.orgId,
      SERVICE_TEAM_ID: sound.sandbox.teamId,
    }),
    found: ['management webhook', 'warning', /None points at PUBLIC_URL/],
  },
];

test('a service whose certificate is of an unknown authority is found', async () => {
  await using service = await startSecureService((_, response) => response.end('{}'));
  // A process of its own, because tests of this process may have made it trust the certificate.
  const { out } = await runLabgraph({
    args: ['doctor', '--json'],
    env: { ...complete, SERVICE_URL: service.url, EVENT_LOG: 'memory:', AUDIT_TRAIL: 'off' },
  });
  expect(JSON.parse(out)).toContainEqual({
    check: 'service',
    ok: false,
    message: 'Its certificate is not accepted.',
    fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

test.each(table)('$fault is found', async ({ plant, found: [check, result, message] }) => {
  await using stack = new AsyncDisposableStack();
  const { folder, ...changed } = await plant(stack);

  const findings = await find({ ...sound.env, ...changed }, folder);

  const fix = expect.stringMatching(/\w/);
  const isOk = result === 'warning';
  expect(findings).toContainEqual({ check, ok: isOk, message: expect.stringMatching(message), fix });
});

test('a fault ends the command with exit code 1', async () => {
  const env = { ...sound.env, SERVICE_API_KEY: secretText(), ALLOWED_ORIGINS: '' };
  const { code, text } = await callLabgraph(env, 'doctor');
  expect(code).toBe(1);
  expect(text).toMatch(/^fault {4}service: It refuses the key \(401\)\. Set SERVICE_API_KEY/m);
  expect(text).toMatch(/^warning {2}origin: ALLOWED_ORIGINS is empty.*\. \w/m);
  expect(text).toMatch(/^ok {7}node: /m);
  for (const [, secret] of secrets) expect(text).not.toContain(secret);
});

test('a fault ends it so with --json, too, after one list', async () => {
  const { code, text } = await callLabgraph(
    { ...sound.env, SERVICE_API_KEY: secretText() },
    'doctor',
    '--json',
  );
  expect(code).toBe(1);
  expect(JSON.parse(text)).toContainEqual({
    check: 'service',
    ok: false,
    message: 'It refuses the key (401).',
    fix: expect.stringContaining('Set SERVICE_API_KEY'),
  });
});
