import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../gateway/config/config.ts';
import { loadSecrets } from '../../gateway/config/generated-secrets.ts';
import { GatewayError } from '../../gateway/errors.ts';
import {
  auditKey,
  complete,
  type Environment,
  faultsOf,
  key,
  read,
  savedSecrets,
  secretText,
  webhookSecret,
} from '../support/configuration.ts';
import { makeFolder } from '../support/folder.ts';

const twoSecrets = [webhookSecret(), webhookSecret()];
const twoKeys = [secretText(), `sha256:${createHash('sha256').update('another').digest('hex')}`];
const otherKey = randomBytes(32);
const ed25519Key = `ed25519:${generateKeyPairSync('ed25519')
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .toString('base64')}`;
const rsaKey = `ed25519:${generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .toString('base64')}`;
const provider = {
  VIEWER_JWKS_URL: 'https://login.example.com/keys',
  VIEWER_ISSUER: 'https://login.example.com',
  VIEWER_AUDIENCE: 'labs',
};

describe('the configuration', () => {
  test('gives metrics a separate address, at HOST unless METRICS_HOST is set', () => {
    expect(read({ METRICS_PORT: '9464', HOST: '0.0.0.0' }).metricsAddress).toEqual({
      host: '0.0.0.0',
      port: 9464,
    });
    expect(read({ METRICS_PORT: '9464', METRICS_HOST: '10.0.0.1' }).metricsAddress).toEqual({
      host: '10.0.0.1',
      port: 9464,
    });
    expect(faultsOf({ METRICS_HOST: '10.0.0.1' })).toContain('METRICS_HOST needs METRICS_PORT.');
  });

  test('has its documented defaults', () => {
    const { webhookSecrets, gatewayApiKeys, viewerTokenSecrets, service, ...defaults } = read();
    expect(defaults).toEqual({
      management: null,
      port: 4000,
      publicUrl: null,
      accessLog: false,
      tracing: null,
      host: '127.0.0.1',
      metricsAddress: null,
      reusePort: false,
      apiKeyHeader: 'x-service-api-key',
      ordersPath: '/orders',
      teamId: null,
      viewerProvider: null,
      allowedOrigins: [],
      portalOrigins: [],
      eventLog: { kind: 'sqlite', path: './data/events.db' },
      eventLogKeys: [key],
      eventRetentionDays: 7,
      intake: null,
      readCacheSeconds: 10,
      reconcileMinutes: 10,
      auditTrail: { folder: './data/audit', keys: [auditKey] },
      limits: { pointsPerMinute: 10_000, connections: 50, operationsPerSocket: 50 },
      persistedOperations: { mode: 'log', files: [] },
      directPath: true,
      drainSeconds: 0,
      keepAliveSeconds: 5,
      logLevel: 'info',
      production: true,
      generated: [],
    });
    expect(service).toEqual({
      kind: 'remote',
      url: 'https://service.example.com',
      usesProxy: false,
      apiKey: complete.SERVICE_API_KEY,
      isProduction: false,
    });
    expect([webhookSecrets, gatewayApiKeys, viewerTokenSecrets]).toEqual([
      [complete.WEBHOOK_SECRETS],
      [complete.GATEWAY_API_KEYS],
      [complete.VIEWER_TOKEN_SECRET],
    ]);
  });

  test.each<readonly [string, Environment, object]>([
    ['PORT', { PORT: '0' }, { port: 0 }],
    ['PORT with blanks', { PORT: ' 8080 ' }, { port: 8080 }],
    ['HOST', { HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
    ['DIRECT_PATH', { DIRECT_PATH: 'off' }, { directPath: false }],
    ['an empty variable as absent', { HOST: '', PORT: ' ' }, { host: '127.0.0.1', port: 4000 }],
    [
      'SERVICE_URL without its last slash',
      { SERVICE_URL: 'http://s/base/' },
      { service: { url: 'http://s/base' } },
    ],
    [
      'SERVICE_DEPLOYMENT',
      { SERVICE_DEPLOYMENT: 'sandbox-eu', SERVICE_URL_SANDBOX_EU: 'https://eu.example.com' },
      { service: { url: 'https://eu.example.com', isProduction: false } },
    ],
    [
      'SERVICE_DEPLOYMENT of production',
      { SERVICE_DEPLOYMENT: 'production-us', SERVICE_URL_PRODUCTION_US: 'https://us.example.com' },
      { service: { url: 'https://us.example.com', isProduction: true } },
    ],
    ['SERVICE_API_KEY_HEADER', { SERVICE_API_KEY_HEADER: 'X-Key' }, { apiKeyHeader: 'x-key' }],
    ['SERVICE_ORDERS_PATH', { SERVICE_ORDERS_PATH: '/v3/orders' }, { ordersPath: '/v3/orders' }],
    [
      'SERVICE_TEAM_ID',
      { SERVICE_TEAM_ID: '6353BCAB-3526-4838-8C92-063FA760FB6B' },
      { teamId: '6353bcab-3526-4838-8c92-063fa760fb6b' },
    ],
    ['WEBHOOK_SECRETS', { WEBHOOK_SECRETS: twoSecrets.join(', ') }, { webhookSecrets: twoSecrets }],
    ['GATEWAY_API_KEYS', { GATEWAY_API_KEYS: `${twoKeys.join(',')},` }, { gatewayApiKeys: twoKeys }],
    [
      'GATEWAY_API_KEYS one per line',
      { GATEWAY_API_KEYS: `${twoKeys.join('\r\n')}\n` },
      { gatewayApiKeys: twoKeys },
    ],
    [
      'ALLOWED_ORIGINS',
      { ALLOWED_ORIGINS: 'https://a.example.com,http://localhost:3000' },
      { allowedOrigins: ['https://a.example.com', 'http://localhost:3000'] },
    ],
    [
      'ALLOWED_ORIGINS of apps that show pages of their own',
      { ALLOWED_ORIGINS: 'capacitor://localhost,tauri://localhost,chrome-extension://abcdefgh' },
      { allowedOrigins: ['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdefgh'] },
    ],
    [
      'PORTAL_ORIGINS',
      { PORTAL_ORIGINS: 'https://p.example.com' },
      { portalOrigins: ['https://p.example.com'] },
    ],
    [
      'VIEWER_TOKEN_SECRET for a rotation',
      { VIEWER_TOKEN_SECRET: `${ed25519Key},${complete.VIEWER_TOKEN_SECRET}` },
      { viewerTokenSecrets: [ed25519Key, complete.VIEWER_TOKEN_SECRET] },
    ],
    [
      'an identity provider',
      { ...provider, VIEWER_USER_CLAIM: 'https://example.com/user' },
      {
        viewerProvider: {
          jwksUrl: provider.VIEWER_JWKS_URL,
          issuer: provider.VIEWER_ISSUER,
          audience: provider.VIEWER_AUDIENCE,
          userClaim: 'https://example.com/user',
        },
      },
    ],
    [
      'an identity provider in place of a secret',
      { ...provider, VIEWER_TOKEN_SECRET: undefined },
      { viewerTokenSecrets: [], viewerProvider: { userClaim: 'sub' } },
    ],
    [
      'an identity provider on this machine in clear',
      { ...provider, VIEWER_JWKS_URL: 'http://127.0.0.1:9000/keys' },
      { viewerProvider: { jwksUrl: 'http://127.0.0.1:9000/keys' } },
    ],
    ['EVENT_LOG in memory', { EVENT_LOG: 'memory:' }, { eventLog: { kind: 'memory' } }],
    [
      'EVENT_LOG in a file',
      { EVENT_LOG: 'sqlite:/var/e.db' },
      { eventLog: { kind: 'sqlite', path: '/var/e.db' } },
    ],
    ['REUSE_PORT', { REUSE_PORT: '1', EVENT_LOG: 'redis://cache' }, { reusePort: true }],
    [
      'EVENT_LOG in Redis',
      { EVENT_LOG: 'redis://user:secret@cache.example.com:6380/3' },
      {
        eventLog: { kind: 'redis', url: 'redis://user:secret@cache.example.com:6380/3', allowWeak: false },
      },
    ],
    [
      'EVENT_LOG behind sentinels',
      { EVENT_LOG: 'redis+sentinel://user:secret@one,two:5000/main?replicas=2&db=3' },
      {
        eventLog: {
          kind: 'redis',
          url: 'redis+sentinel://user:secret@one,two:5000/main?replicas=2&db=3',
          allowWeak: false,
        },
      },
    ],
    [
      'EVENT_LOG in a Redis that may lose events',
      { EVENT_LOG: 'rediss://cache.example.com', ALLOW_WEAK_REDIS: '1' },
      { eventLog: { kind: 'redis', url: 'rediss://cache.example.com', allowWeak: true } },
    ],
    [
      'EVENT_LOG_KEY for a rotation',
      { EVENT_LOG_KEY: `${otherKey.toString('base64')},${key.toString('base64')}` },
      { eventLogKeys: [otherKey, key] },
    ],
    [
      'a share of traces',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_SAMPLER_ARG: '0.1' },
      { tracing: { sampledShare: 0.1 } },
    ],
    ['EVENT_RETENTION_DAYS', { EVENT_RETENTION_DAYS: '30' }, { eventRetentionDays: 30 }],
    ['LOG_LEVEL', { LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      'AUDIT_TRAIL, with keys for a rotation',
      {
        AUDIT_TRAIL: 'file:/var/audit',
        AUDIT_TRAIL_KEY: [otherKey, auditKey].map((each) => each.toString('base64')).join(),
      },
      { auditTrail: { folder: '/var/audit', keys: [otherKey, auditKey] } },
    ],
    ['no audit trail', { AUDIT_TRAIL: 'off', AUDIT_TRAIL_KEY: undefined }, { auditTrail: null }],
    ['no audit trail outside production', { NODE_ENV: 'test' }, { auditTrail: null }],
    ['NODE_ENV', { NODE_ENV: 'test' }, { production: false, generated: [] }],
    // What `set NODE_ENV=production && ...` makes of it.
    ['NODE_ENV', { NODE_ENV: 'production ' }, { production: true }],
  ])('takes %s', (_name, env, expected) => {
    expect(read(env)).toMatchObject(expected);
  });

  test('cannot be changed', () => {
    expect(Object.isFrozen(read())).toBe(true);
  });
});

const management = {
  SERVICE_MANAGEMENT_URL: 'https://management.example.com/',
  SERVICE_MANAGEMENT_KEY: secretText(),
  MANAGEMENT_API_KEYS: `ops=${secretText()}`,
};

test('the management graph has an address, keys, a header and an organization', () => {
  const orgId = '0B7C1A52-8d0e-4a55-9d6c-3f2b1c9e7a10';
  expect(read({ ...management, SERVICE_ORG_ID: orgId }).management).toEqual({
    service: { url: 'https://management.example.com', key: management.SERVICE_MANAGEMENT_KEY },
    keyHeader: 'x-management-key',
    orgId: orgId.toLowerCase(),
    apiKeys: [management.MANAGEMENT_API_KEYS],
  });
});

describe('a fault', () => {
  const wholeNumber = (name: string, from: number, to: number) =>
    `${name} must be a whole number from ${from} to ${to}.`;
  const eventLogs =
    'EVENT_LOG must be sqlite:<path>, redis://<host>:<port>/<database> (or rediss://), redis+sentinel://<host>,<host>/<primary>, or memory:.';
  const unsendable = (name: string) =>
    `${name} must have visible ASCII characters only, because a key is sent in a header.`;
  const origins = 'must list exact origins such as https://app.example.com, without path or wildcard.';

  const faults: readonly (readonly [Environment, string])[] = [
    [{ PORT: '65536' }, wholeNumber('PORT', 0, 65_535)],
    [{ PORT: '80.5' }, wholeNumber('PORT', 0, 65_535)],
    [{ PORT: 'http' }, wholeNumber('PORT', 0, 65_535)],
    [{ EVENT_RETENTION_DAYS: '0' }, wholeNumber('EVENT_RETENTION_DAYS', 1, 365)],
    [{ SERVICE_URL: 'service.example.com' }, 'SERVICE_URL must be an http or https address.'],
    [{ SERVICE_URL: 'file:///etc' }, 'SERVICE_URL must be an http or https address.'],
    [
      { SERVICE_URL: 'https://user:pass@proxy.example.com/api' },
      'SERVICE_URL must have no user, no password, no query and no fragment.',
    ],
    [
      { SERVICE_URL: 'https://s.example.com/?tenant=a' },
      'SERVICE_URL must have no user, no password, no query and no fragment.',
    ],
    [
      { PUBLIC_URL: 'https://g.example.com/#x' },
      'PUBLIC_URL must have no user, no password, no query and no fragment.',
    ],
    [
      { SERVICE_DEPLOYMENT: 'production-us', SERVICE_URL_PRODUCTION_US: 'ftp://x' },
      'SERVICE_URL_PRODUCTION_US must be an http or https address.',
    ],
    [
      { SERVICE_MANAGEMENT_URL: 'https://management.example.com' },
      'SERVICE_MANAGEMENT_URL and SERVICE_MANAGEMENT_KEY need each other.',
    ],
    [
      {
        SERVICE_MANAGEMENT_URL: 'https://management.example.com',
        SERVICE_MANAGEMENT_KEY: secretText(),
      },
      'MANAGEMENT_API_KEYS is missing: nobody could use SERVICE_MANAGEMENT_URL.',
    ],
    [
      { MANAGEMENT_API_KEYS: `ops=${secretText()}` },
      'MANAGEMENT_API_KEYS is of no use without SERVICE_MANAGEMENT_URL.',
    ],
    [
      { ...management, MANAGEMENT_API_KEYS: complete.GATEWAY_API_KEYS },
      'MANAGEMENT_API_KEYS is the same secret as GATEWAY_API_KEYS: each must be its own.',
    ],
    [{ SERVICE_API_KEY_HEADER: 'x key' }, 'SERVICE_API_KEY_HEADER must be the name of a header.'],
    [{ SERVICE_ORDERS_PATH: 'orders' }, 'SERVICE_ORDERS_PATH must start with a slash, such as /v3/orders.'],
    [
      { SERVICE_ORDERS_PATH: '/orders?x=1' },
      'SERVICE_ORDERS_PATH must be a path alone, without query, fragment or spaces.',
    ],
    [
      { SERVICE_ORDERS_PATH: '/orders#a' },
      'SERVICE_ORDERS_PATH must be a path alone, without query, fragment or spaces.',
    ],
    [
      { SERVICE_ORDERS_PATH: '/or ders' },
      'SERVICE_ORDERS_PATH must be a path alone, without query, fragment or spaces.',
    ],
    [{ SERVICE_TEAM_ID: 'team' }, 'SERVICE_TEAM_ID must be a uuid.'],
    ...['whsec_short', 'a'.repeat(32), `whsec_${'!'.repeat(32)}`, `whsec_${'a'.repeat(33)}`].map(
      (secret): [Environment, string] => [
        { WEBHOOK_SECRETS: secret },
        'WEBHOOK_SECRETS must list secrets of the form whsec_ followed by base64.',
      ],
    ),
    [
      { GATEWAY_API_KEYS: 'sha256:0a' },
      'GATEWAY_API_KEYS has a sha256: entry that is not 64 hexadecimal digits.',
    ],
    [
      { GATEWAY_API_KEYS: 'billing=sha256:0a' },
      'GATEWAY_API_KEYS has a sha256: entry that is not 64 hexadecimal digits.',
    ],
    ...['user', 'User-1', 'team', '1st', 'a label'].map((label): [Environment, string] => [
      { GATEWAY_API_KEYS: `${label}=sha256:${'0a'.repeat(32)}` },
      'GATEWAY_API_KEYS has a label that is not a letter and up to 31 letters, digits, - and _, or that begins like user or team.',
    ]),
    ...[`${secretText()} x`, `web=${secretText()}é`].map((entry): [Environment, string] => [
      { GATEWAY_API_KEYS: entry },
      unsendable('GATEWAY_API_KEYS'),
    ]),
    ...[`${secretText()}\n${secretText()}`, `${secretText()}\u2019`].map((text): [Environment, string] => [
      { SERVICE_API_KEY: text },
      unsendable('SERVICE_API_KEY'),
    ]),
    [
      { ...management, SERVICE_MANAGEMENT_KEY: `${secretText()}\n${secretText()}` },
      unsendable('SERVICE_MANAGEMENT_KEY'),
    ],
    [{ VIEWER_TOKEN_SECRET: 'short' }, 'VIEWER_TOKEN_SECRET must be at least 32 characters long.'],
    [
      { VIEWER_TOKEN_SECRET: `${secretText()},short` },
      'VIEWER_TOKEN_SECRET must be at least 32 characters long.',
    ],
    ...['ed25519:', `ed25519:${'A'.repeat(64)}`, ed25519Key.slice(0, -8), rsaKey].map(
      (entry): [Environment, string] => [
        { VIEWER_TOKEN_SECRET: entry },
        'VIEWER_TOKEN_SECRET has an ed25519: entry that is no private key (base64 of PKCS 8).',
      ],
    ),
    ...[
      'login.example.com',
      'http://login.example.com/keys',
      'file:///keys',
      'https://a:b@login.example.com',
    ].map((address): [Environment, string] => [
      { ...provider, VIEWER_JWKS_URL: address },
      'VIEWER_JWKS_URL must be an https address: who can change the keys can be anybody.',
    ]),
    [
      { ...provider, VIEWER_ISSUER: undefined },
      'VIEWER_ISSUER is missing: it is what the tokens of VIEWER_JWKS_URL name as iss.',
    ],
    [{ ...provider, VIEWER_ISSUER: 'labgraph' }, 'VIEWER_ISSUER labgraph is the name of the gateway itself.'],
    [
      { ...provider, VIEWER_AUDIENCE: undefined },
      'VIEWER_AUDIENCE is missing: it is what the tokens of VIEWER_JWKS_URL name as aud.',
    ],
    [{ VIEWER_AUDIENCE: 'labs' }, 'VIEWER_AUDIENCE is of no use without VIEWER_JWKS_URL.'],
    ...[
      '*',
      'https://*.example.com',
      'https://a.example.com/',
      'https://a.example.com/x',
      'a.example.com',
      'https://a.example.com:443',
      'capacitor://localhost/',
      'capacitor://',
      'file:///app/index.html',
      'null',
      'ftp://a',
      'wss://a.example.com',
    ].map((origin): [Environment, string] => [{ ALLOWED_ORIGINS: origin }, `ALLOWED_ORIGINS ${origins}`]),
    ...['https://*.example.com', 'capacitor://localhost'].map((origin): [Environment, string] => [
      { PORTAL_ORIGINS: origin },
      `PORTAL_ORIGINS ${origins}`,
    ]),
    ...[
      'postgres://x',
      'sqlite:',
      'redis:',
      'redis://',
      'redis+sentinel://one,two',
      'redis+sentinel://one/main?replicas=0',
      'redis://:6379',
      'redis://user:secret@host/not-a-number',
      'redis+tls://host',
    ].map((place): [Environment, string] => [{ EVENT_LOG: place }, eventLogs]),
    [{ ALLOW_WEAK_REDIS: 'yes' }, 'ALLOW_WEAK_REDIS must be one of 0, 1.'],
    [{ AUDIT_TRAIL: './data/audit' }, 'AUDIT_TRAIL must be file:<folder> or off.'],
    [{ AUDIT_TRAIL_KEY: 'AAAA' }, 'AUDIT_TRAIL_KEY must be base64 of exactly 32 bytes.'],
    [
      { NODE_ENV: 'test', AUDIT_TRAIL: 'file:audit', AUDIT_TRAIL_KEY: undefined },
      'AUDIT_TRAIL_KEY is missing: what links the audit trail is never generated (or AUDIT_TRAIL=off).',
    ],
    [
      { REUSE_PORT: '1' },
      'REUSE_PORT=1 needs EVENT_LOG=redis://<host>:<port>: several processes write one log, and only Redis takes several writers.',
    ],
    [
      { REUSE_PORT: '1', EVENT_LOG: 'redis://cache', SERVICE_URL: '', NODE_ENV: '' },
      'REUSE_PORT=1 needs SERVICE_URL: each process would embed a sandbox of its own. npm run sandbox starts one beside them.',
    ],
    [
      { REUSE_PORT: '1', EVENT_LOG: 'redis://cache', PORT: '0' },
      'REUSE_PORT=1 needs PORT: all processes listen on the same one.',
    ],
    [{ REUSE_PORT: 'yes' }, 'REUSE_PORT must be one of 0, 1.'],
    [
      { WORKERS: '4' },
      'WORKERS was removed: start several processes with REUSE_PORT=1 (docs/operations.md).',
    ],
    [{ EVENT_LOG_KEY: key.toString('hex') }, 'EVENT_LOG_KEY must be base64 of exactly 32 bytes.'],
    [
      { EVENT_LOG_KEY: `${key.toString('base64')},AAAA` },
      'EVENT_LOG_KEY must be base64 of exactly 32 bytes.',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address.',
    ],
    ...['7', '-0.1', 'all'].map((share): [Environment, string] => [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_SAMPLER_ARG: share },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.',
    ]),
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.'],
  ];

  test.each(faults.map(([env, fault]) => ({ given: JSON.stringify(env), env, fault })))(
    'in $given is named',
    ({ env, fault }) => {
      expect(faultsOf(env)).toEqual([fault]);
    },
  );

  test('never hides another fault', () => {
    expect(
      faultsOf({
        PORT: 'x',
        SERVICE_URL: undefined,
        SERVICE_DEPLOYMENT: 'sandbox-us',
        SERVICE_ORDERS_PATH: 'orders',
        VIEWER_TOKEN_SECRET: 'short',
        LOG_LEVEL: 'loud',
      }),
    ).toEqual([
      'PORT must be a whole number from 0 to 65535.',
      'SERVICE_DEPLOYMENT=sandbox-us needs SERVICE_URL_SANDBOX_US.',
      'SERVICE_ORDERS_PATH must start with a slash, such as /v3/orders.',
      'VIEWER_TOKEN_SECRET must be at least 32 characters long.',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.',
    ]);
  });

  test('is named without the value that is at fault', () => {
    const faults = faultsOf({
      WEBHOOK_SECRETS: 'canary-1',
      VIEWER_TOKEN_SECRET: 'canary-2',
      EVENT_LOG_KEY: 'canary-3',
      AUDIT_TRAIL_KEY: 'canary-4',
      GATEWAY_API_KEYS: 'sha256:canary-5',
    });
    expect(faults).toHaveLength(5);
    expect(faults.join()).not.toContain('canary');
  });
});

describe('a secret in a file', () => {
  const fromFile = secretText();

  test.each<readonly [string, string, (config: ReturnType<typeof read>) => unknown]>([
    ['SERVICE_API_KEY', fromFile, ({ service }) => service.apiKey],
    ['WEBHOOK_SECRETS', twoSecrets[0] ?? '', ({ webhookSecrets }) => webhookSecrets[0]],
    ['GATEWAY_API_KEYS', fromFile, ({ gatewayApiKeys }) => gatewayApiKeys[0]],
    ['VIEWER_TOKEN_SECRET', fromFile, ({ viewerTokenSecrets }) => viewerTokenSecrets[0]],
    [
      'EVENT_LOG',
      'redis://user:secret@host',
      ({ eventLog }) => (eventLog.kind === 'redis' ? eventLog.url : eventLog),
    ],
    [
      'AUDIT_TRAIL_KEY',
      otherKey.toString('base64'),
      ({ auditTrail }) => auditTrail?.keys[0].toString('base64'),
    ],
    ['EVENT_LOG_KEY', key.toString('base64'), ({ eventLogKeys }) => eventLogKeys[0]?.toString('base64')],
  ])('%s_FILE takes the place of the variable', (name, secret, pick) => {
    using folder = makeFolder();
    writeFileSync(folder.file('secret'), `${secret}\n`);
    const env = { [name]: undefined, [`${name}_FILE`]: folder.file('secret') };
    expect(pick(read(env))).toBe(secret);
    expect(faultsOf({ [name]: undefined, [`${name}_FILE`]: folder.file('missing') })[0]).toBe(
      `${name}_FILE names a file that cannot be read.`,
    );
  });

  test('that is empty is a fault, and nothing is generated in its place', () => {
    using folder = makeFolder();
    writeFileSync(folder.file('empty'), '\n');
    const env = {
      NODE_ENV: undefined,
      GATEWAY_API_KEYS: undefined,
      GATEWAY_API_KEYS_FILE: folder.file('empty'),
    };
    expect(faultsOf(env)).toEqual(['GATEWAY_API_KEYS_FILE names an empty file.']);
  });
});

describe('what is missing', () => {
  const nothing = { NODE_ENV: undefined };

  test('is generated for the embedded sandbox, once, and named', () => {
    const createSecrets = vi.fn(() => savedSecrets);
    const config = readConfig(nothing, createSecrets);
    expect(createSecrets).toHaveBeenCalledOnce();
    expect(config).toMatchObject({
      service: { kind: 'embedded', apiKey: savedSecrets.serviceApiKey, usesProxy: false },
      webhookSecrets: [savedSecrets.webhookSecret],
      gatewayApiKeys: [savedSecrets.gatewayApiKey],
      viewerTokenSecrets: [savedSecrets.viewerTokenSecret],
      eventLogKeys: [],
      generated: ['SERVICE_API_KEY', 'WEBHOOK_SECRETS', 'GATEWAY_API_KEYS', 'VIEWER_TOKEN_SECRET'],
    });
  });

  test('is a fault in production, each by its name, and nothing is made', () => {
    const createSecrets = vi.fn(() => savedSecrets);
    expect(() => readConfig({ NODE_ENV: 'production' }, createSecrets)).toThrow(GatewayError);
    expect(createSecrets).not.toHaveBeenCalled();
    expect(faultsOf({}, { NODE_ENV: 'production' })).toEqual([
      'SERVICE_URL is missing: the embedded sandbox is not for production.',
      'SERVICE_API_KEY is missing: with NODE_ENV=production nothing is generated.',
      'WEBHOOK_SECRETS is missing: with NODE_ENV=production nothing is generated.',
      'GATEWAY_API_KEYS is missing: with NODE_ENV=production nothing is generated.',
      'VIEWER_TOKEN_SECRET is missing: with NODE_ENV=production nothing is generated.',
      'EVENT_LOG_KEY is missing: event bodies are health data and are encrypted in production.',
      'AUDIT_TRAIL_KEY is missing: what links the audit trail is never generated (or AUDIT_TRAIL=off).',
    ]);
  });

  test('is never generated for a service of somebody else: its key', () => {
    expect(faultsOf({ SERVICE_API_KEY: undefined, NODE_ENV: undefined })).toEqual([
      'SERVICE_API_KEY is missing: it is the team key of the service at SERVICE_URL.',
    ]);
  });
});

describe('generated secrets', () => {
  test('are stored in a file for its owner only, the same after a restart', () => {
    using folder = makeFolder();
    const first = loadSecrets(folder.file('inner'));
    const path = folder.file('inner/secrets.json');

    expect(loadSecrets(folder.file('inner'))).toEqual(first);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folder.file('inner')).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(first);
    expect(faultsOf({ ...nothingBut(first) }, {})).toEqual([]);
  });

  test('differ from gateway to gateway and from each other', () => {
    using folder = makeFolder();
    const all = ['a', 'b'].flatMap((name) => Object.values(loadSecrets(folder.file(name))));
    expect(new Set(all).size).toBe(8);
  });

  test('in a file that cannot be read are a fault, and the file stays', () => {
    using folder = makeFolder();
    writeFileSync(folder.file('secrets.json'), '{"serviceApiKey": "x"}');
    expect(() => loadSecrets(folder.path)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(readFileSync(folder.file('secrets.json'), 'utf8')).toBe('{"serviceApiKey": "x"}');
  });
});

function nothingBut(secrets: typeof savedSecrets): Environment {
  return {
    SERVICE_API_KEY: secrets.serviceApiKey,
    WEBHOOK_SECRETS: secrets.webhookSecret,
    GATEWAY_API_KEYS: secrets.gatewayApiKey,
    VIEWER_TOKEN_SECRET: secrets.viewerTokenSecret,
  };
}
