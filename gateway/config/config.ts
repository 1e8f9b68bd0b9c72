import { type AuditTrailConfig, readAuditTrail } from './audit-trail.ts';
import {
  readGatewayKeys,
  readViewerProvider,
  readViewerSecrets,
  refuseWeakSecrets,
  type SecretsOfVariable,
  splitKeyEntry,
  type ViewerProviderConfig,
} from './auth.ts';
import { readIntake } from './intake.ts';
import { type ManagementConfig, readManagement } from './management.ts';
import { type Environment, type GeneratedSecrets, Reading } from './reading.ts';
import { readTracing, type TracingConfig } from './tracing.ts';

/** Where the service is: inside this process (the sandbox), or at an address. */
export type ServiceConfig =
  | { readonly kind: 'embedded'; readonly apiKey: string; readonly usesProxy: false }
  | {
      readonly kind: 'remote';
      readonly url: string;
      readonly apiKey: string;
      /** Whether SERVICE_DEPLOYMENT names a production deployment; with a SERVICE_URL nobody knows. */
      readonly isProduction: boolean;
      /** Whether calls go through the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. */
      readonly usesProxy: boolean;
    };

/** The settings of the gateway, read once and never changed. Secrets are in clear: never log it. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** The separate address of `/metrics`, `/health` and `/ready`; null = all is served at one address. */
  readonly metricsAddress: { readonly host: string; readonly port: number } | null;
  /** Whether other gateways on this machine may listen on the same port. */
  readonly reusePort: boolean;
  /** Where others reach the gateway; null = it does not know. */
  readonly publicUrl: string | null;
  readonly service: ServiceConfig;
  readonly apiKeyHeader: string;
  readonly ordersPath: string;
  /** The team whose events are delivered; null until the service's first answer names it. */
  readonly teamId: string | null;
  readonly webhookSecrets: readonly string[];
  /** Null where webhooks are the only route of events. */
  readonly intake: ReturnType<typeof readIntake>;
  /** Keys of server-side callers, as text or `sha256:<hex>`, with or without `label=` before it. */
  readonly gatewayApiKeys: readonly string[];
  /** Null = there is no management graph. */
  readonly management: ManagementConfig | null;
  /** Texts of 32 characters and more, or `ed25519:<base64 of PKCS 8>`: the first signs, all verify. */
  readonly viewerTokenSecrets: readonly string[];
  /** The team's identity provider; null = only the gateway's own tokens are accepted. */
  readonly viewerProvider: ViewerProviderConfig | null;
  readonly allowedOrigins: readonly string[];
  readonly portalOrigins: readonly string[];
  readonly eventLog: EventLogConfig;
  readonly eventLogKeys: readonly Buffer[];
  readonly eventRetentionDays: number;
  /** How often the service is compared with the event log; 0 = never. */
  readonly reconcileMinutes: number;
  /** The longest time that an answer of the service is cached; 0 = not at all. */
  readonly readCacheSeconds: number;
  /** Null = no audit trail. */
  readonly auditTrail: AuditTrailConfig | null;
  readonly limits: LimitsConfig;
  /** The trusted documents of viewers; others are refused, logged or ignored. */
  readonly persistedOperations: {
    readonly mode: 'off' | 'log' | 'enforce';
    readonly files: readonly string[];
  };
  /** Whether ordinary JSON requests take the direct path (http/direct-path.ts) instead of Yoga's; for tests. */
  readonly directPath: boolean;
  /** How long the gateway answers on after SIGTERM, while `/ready` is 503. */
  readonly drainSeconds: number;
  readonly keepAliveSeconds: number;
  readonly logLevel: string;
  /** Whether each answer has a line in the log. */
  readonly accessLog: boolean;
  /** Null = no spans are sent to a collector. */
  readonly tracing: TracingConfig | null;
  readonly production: boolean;
  /** Names of variables that were generated because none was given. */
  readonly generated: readonly string[];
}

/** What one caller may use; a gateway key has 20 times as many connections and operations as a viewer. */
export interface LimitsConfig {
  /** 0 = no limit. */
  readonly pointsPerMinute: number;
  readonly connections: number;
  readonly operationsPerSocket: number;
}

export type EventLogConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `allowWeak` accepts a server that may lose what it acknowledged. The url may hold a password. */
  | { readonly kind: 'redis'; readonly url: string; readonly allowWeak: boolean };

const deployments = ['production-us', 'production-eu', 'sandbox-us', 'sandbox-eu'] as const;
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Reads the configuration from the environment: the only place that does.
 * @param loadSecrets called when secrets must be generated (never with NODE_ENV=production)
 * @throws GatewayError CONFIG_INVALID that names every fault at once, one per line
 */
export function readConfig(env: Environment, loadSecrets: () => GeneratedSecrets): Config {
  const reading = new Reading(env, loadSecrets);
  const config: Config = {
    port: reading.integer('PORT', 4000, { min: 0, max: 65_535 }),
    host: readHost(reading),
    metricsAddress: readMetricsAddress(reading),
    reusePort: reading.oneOf('REUSE_PORT', ['0', '1']) === '1',
    publicUrl: reading.address('PUBLIC_URL'),
    service: readService(reading),
    apiKeyHeader: reading.headerName('SERVICE_API_KEY_HEADER', 'x-service-api-key'),
    ordersPath: readOrdersPath(reading),
    teamId: reading.uuid('SERVICE_TEAM_ID'),
    webhookSecrets: readWebhookSecrets(reading),
    intake: readIntake(reading),
    gatewayApiKeys: readGatewayKeys(reading),
    management: readManagement(reading),
    viewerTokenSecrets: readViewerSecrets(reading),
    viewerProvider: readViewerProvider(reading),
    // Of pages, and of apps that show pages of their own, whose schemes nobody lists.
    allowedOrigins: reading.origins('ALLOWED_ORIGINS', /^(?!ftp:|file:|wss?:)/),
    portalOrigins: reading.origins('PORTAL_ORIGINS', /^https?:/),
    eventLog: readEventLog(reading),
    eventLogKeys: readEventLogKeys(reading),
    eventRetentionDays: reading.integer('EVENT_RETENTION_DAYS', 7, { min: 1, max: 365 }),
    reconcileMinutes: reading.integer('RECONCILE_MINUTES', 10, { min: 0, max: 1440 }),
    // At most 300 s: an older answer is no longer corrected from the event log (domain/order/read/actions.ts).
    readCacheSeconds: reading.integer('READ_CACHE_SECONDS', 10, { min: 0, max: 300 }),
    auditTrail: readAuditTrail(reading),
    limits: readLimits(reading),
    persistedOperations: {
      mode: reading.oneOf('PERSISTED_OPERATIONS', ['off', 'log', 'enforce']) ?? 'log',
      files: reading.list(reading.text('PERSISTED_OPERATIONS_FILE')),
    },
    directPath: reading.oneOf('DIRECT_PATH', ['on', 'off']) !== 'off',
    drainSeconds: reading.integer('DRAIN_SECONDS', 0, { min: 0, max: 300 }),
    keepAliveSeconds: reading.integer('KEEP_ALIVE_SECONDS', 5, { min: 1, max: 3600 }),
    logLevel: reading.oneOf('LOG_LEVEL', logLevels) ?? 'info',
    tracing: readTracing(reading),
    accessLog: reading.oneOf('ACCESS_LOG', ['0', '1']) === '1',
    production: reading.production,
    generated: reading.generated,
  };
  if (config.reusePort) refuseUnshareable(reading, config);
  if (reading.text('WORKERS') !== null) {
    reading.fault('WORKERS was removed: start several processes with REUSE_PORT=1 (docs/operations.md).');
  }
  if (config.production) refuseWeakSecrets(reading, listSecrets(config));
  reading.throwFaults();
  return Object.freeze(config);
}

function listSecrets(config: Config): readonly SecretsOfVariable[] {
  const { service, webhookSecrets, gatewayApiKeys, management, viewerTokenSecrets } = config;
  const { eventLogKeys, auditTrail } = config;
  const toKey = (entry: string) => splitKeyEntry(entry).key;
  const toBase64 = (key: Buffer) => key.toString('base64');
  const auditKeys = auditTrail?.keys ?? [];
  return [
    { name: 'SERVICE_API_KEY', minLength: 16, secrets: [service.apiKey] },
    { name: 'WEBHOOK_SECRETS', minLength: 22, secrets: webhookSecrets },
    { name: 'GATEWAY_API_KEYS', minLength: 24, secrets: gatewayApiKeys.map(toKey) },
    { name: 'SERVICE_MANAGEMENT_KEY', minLength: 16, secrets: [management?.service?.key ?? ''] },
    { name: 'MANAGEMENT_API_KEYS', minLength: 24, secrets: management?.apiKeys.map(toKey) ?? [] },
    { name: 'VIEWER_TOKEN_SECRET', minLength: 32, secrets: viewerTokenSecrets },
    { name: 'EVENT_LOG_KEY', minLength: 44, secrets: eventLogKeys.map(toBase64) },
    { name: 'AUDIT_TRAIL_KEY', minLength: 44, secrets: auditKeys.map(toBase64) },
  ];
}

function readHost(reading: Reading): string {
  return reading.text('HOST') ?? '127.0.0.1';
}

function readMetricsAddress(reading: Reading): Config['metricsAddress'] {
  const host = reading.text('METRICS_HOST');
  if (reading.text('METRICS_PORT') === null) {
    if (host !== null) reading.fault('METRICS_HOST needs METRICS_PORT.');
    return null;
  }
  const port = reading.integer('METRICS_PORT', 0, { min: 0, max: 65_535 });
  return { host: host ?? readHost(reading), port };
}

function readService(reading: Reading): ServiceConfig {
  const url = readServiceUrl(reading);
  const apiKey = reading.secret('SERVICE_API_KEY');
  reading.refuseUnsendable('SERVICE_API_KEY', apiKey ?? '');
  if (url === null) {
    if (reading.production)
      reading.fault('SERVICE_URL is missing: the embedded sandbox is not for production.');
    const generated = () => reading.generate('SERVICE_API_KEY', (secrets) => secrets.serviceApiKey);
    return { kind: 'embedded', apiKey: apiKey ?? generated() ?? '', usesProxy: false };
  }
  if (apiKey === null)
    reading.fault('SERVICE_API_KEY is missing: it is the team key of the service at SERVICE_URL.');
  const isProduction = reading.text('SERVICE_DEPLOYMENT')?.startsWith('production-') ?? false;
  // Node's own switch, so that its `fetch` (the keys of VIEWER_JWKS_URL) and these calls do the same.
  const usesProxy = reading.oneOf('NODE_USE_ENV_PROXY', ['0', '1']) === '1';
  return { kind: 'remote', url, apiKey: apiKey ?? '', isProduction, usesProxy };
}

/** The address; null when none is set. A faulty address is returned, because its fault has been reported already. */
function readServiceUrl(reading: Reading): string | null {
  const deployment = reading.oneOf('SERVICE_DEPLOYMENT', deployments);
  const name =
    deployment === null ? 'SERVICE_URL' : `SERVICE_URL_${deployment.toUpperCase().replace('-', '_')}`;
  const address = reading.address(name);
  if (address !== null || deployment === null) return address;
  reading.fault(`SERVICE_DEPLOYMENT=${deployment} needs ${name}.`);
  return '';
}

function readOrdersPath(reading: Reading): string {
  const path = reading.text('SERVICE_ORDERS_PATH') ?? '/orders';
  if (!path.startsWith('/'))
    reading.fault('SERVICE_ORDERS_PATH must start with a slash, such as /v3/orders.');
  else if (!/^[!-~]+$/.test(path) || /[?#]/.test(path))
    reading.fault('SERVICE_ORDERS_PATH must be a path alone, without query, fragment or spaces.');
  return path;
}

/** Whole base64, padding included, of 12 bytes or more: the signature library throws at anything else. */
const webhookSecretForm = /^whsec_(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readWebhookSecrets(reading: Reading): readonly string[] {
  const secrets = reading.list(reading.secret('WEBHOOK_SECRETS'));
  for (const secret of secrets) {
    if (!webhookSecretForm.test(secret)) {
      reading.fault('WEBHOOK_SECRETS must list secrets of the form whsec_ followed by base64.');
    }
  }
  if (secrets.length > 0) return secrets;
  const generated = reading.generate('WEBHOOK_SECRETS', (secrets) => secrets.webhookSecret);
  return generated === null ? [] : [generated];
}

function readLimits(reading: Reading): LimitsConfig {
  return {
    pointsPerMinute: reading.integer('RATE_LIMIT_POINTS', 10_000, { min: 0, max: 1_000_000_000 }),
    connections: reading.integer('MAX_CONNECTIONS', 50, { min: 1, max: 100_000 }),
    operationsPerSocket: reading.integer('MAX_SOCKET_OPERATIONS', 50, { min: 1, max: 100_000 }),
  };
}

function readEventLog(reading: Reading): EventLogConfig {
  const text = reading.secret('EVENT_LOG') ?? 'sqlite:./data/events.db';
  const allowWeak = reading.oneOf('ALLOW_WEAK_REDIS', ['0', '1']) === '1';
  if (text === 'memory:') return { kind: 'memory' };
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { kind: 'sqlite', path: text.slice('sqlite:'.length) };
  }
  if (isRedisAddress(text)) return { kind: 'redis', url: text, allowWeak };
  reading.fault(
    'EVENT_LOG must be sqlite:<path>, redis://<host>:<port>/<database> (or rediss://), redis+sentinel://<host>,<host>/<primary>, or memory:.',
  );
  return { kind: 'memory' };
}

/** Sentinels and the name they give the primary; the credentials are the primary's. */
const sentinelAddress =
  /^rediss?\+sentinel:\/\/([^@/?]*@)?[\w.-]+(:\d+)?(,[\w.-]+(:\d+)?)*\/[\w.-]+(\?((db=\d+|replicas=[1-9])(&|$))*)?$/;

function isRedisAddress(text: string): boolean {
  if (sentinelAddress.test(text)) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname);
}

function readEventLogKeys(reading: Reading): readonly Buffer[] {
  const keys = reading.keys('EVENT_LOG_KEY');
  if (keys.length === 0 && reading.production) {
    reading.fault('EVENT_LOG_KEY is missing: event bodies are health data and are encrypted in production.');
  }
  return keys;
}

/** Reports settings with which several processes cannot share one port. */
function refuseUnshareable(reading: Reading, { port, eventLog, service }: Config): void {
  if (port === 0) reading.fault('REUSE_PORT=1 needs PORT: all processes listen on the same one.');
  if (eventLog.kind !== 'redis' && !reading.hasFault('EVENT_LOG')) {
    reading.fault(
      'REUSE_PORT=1 needs EVENT_LOG=redis://<host>:<port>: several processes write one log, and only Redis takes several writers.',
    );
  }
  if (service.kind === 'embedded') {
    reading.fault(
      'REUSE_PORT=1 needs SERVICE_URL: each process would embed a sandbox of its own. npm run sandbox starts one beside them.',
    );
  }
}
