import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startFile } from './gateway-process.ts';
import { findFreePort } from './listening.ts';
import { type GatewayVictim, prepareGateway } from './processes.ts';

export interface Secrets {
  readonly serviceKey: string;
  readonly gatewayKey: string;
  readonly viewerTokenSecret: string;
  readonly webhookSecret: string;
  readonly eventLogKey: string;
}

export function makeSecrets(): Secrets {
  return {
    serviceKey: randomBytes(24).toString('base64url'),
    gatewayKey: randomBytes(24).toString('base64url'),
    viewerTokenSecret: randomBytes(48).toString('base64url'),
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
    eventLogKey: randomBytes(32).toString('base64'),
  };
}

export interface Surroundings {
  readonly folder: string;
  readonly teamId: string;
  readonly secrets: Secrets;
  /** Address of the service. */
  readonly service: string;
  /** Address of Redis; undefined: SQLite in the folder. */
  readonly redis: string | undefined;
  /** The module that Node runs; what `npm start` runs where left out. */
  readonly main?: string | undefined;
  /** Whether the gateways over Redis listen on one port (REUSE_PORT). */
  readonly sharesPort?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Gateways as in production: one over SQLite, or two over Redis. Every change must come by webhook: nothing is
 * reconciled.
 */
export async function prepareGateways(around: Surroundings): Promise<readonly GatewayVictim[]> {
  const env = {
    NODE_ENV: 'production',
    SERVICE_URL: around.service,
    SERVICE_API_KEY: around.secrets.serviceKey,
    SERVICE_TEAM_ID: around.teamId,
    WEBHOOK_SECRETS: around.secrets.webhookSecret,
    GATEWAY_API_KEYS: around.secrets.gatewayKey,
    VIEWER_TOKEN_SECRET: around.secrets.viewerTokenSecret,
    EVENT_LOG: around.redis ?? `sqlite:${join(around.folder, 'events.db')}`,
    EVENT_LOG_KEY: around.secrets.eventLogKey,
    RECONCILE_MINUTES: '0',
    // Measured and killed is the event log.
    AUDIT_TRAIL: 'off',
    // Few users follow what many would: the load is to be heavy, and not to be turned away.
    RATE_LIMIT_POINTS: '0',
    MAX_CONNECTIONS: '100000',
    MAX_SOCKET_OPERATIONS: '100000',
    LOG_LEVEL: 'warn',
    ...(around.sharesPort ? { REUSE_PORT: '1' } : {}),
    ...around.env,
  };
  const names = around.redis === undefined ? ['gateway'] : ['gateway 1', 'gateway 2'];
  const port = around.sharesPort ? { port: await findFreePort() } : {};
  const options = { main: around.main ?? startFile, folder: around.folder, env, ...port };
  return await Promise.all(names.map((name) => prepareGateway(name, options)));
}
