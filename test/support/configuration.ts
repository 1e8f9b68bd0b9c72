import { randomBytes } from 'node:crypto';
import { readConfig } from '../../gateway/config/config.ts';
import { GatewayError } from '../../gateway/errors.ts';

export const savedSecrets = {
  serviceApiKey: 'kept-service-key',
  webhookSecret: `whsec_${'k'.repeat(32)}`,
  gatewayApiKey: 'kept-gateway-key',
  viewerTokenSecret: 'kept viewer secret of more than 32 characters',
};

export const key = randomBytes(32);
export const auditKey = randomBytes(32);
export const secretText = () => randomBytes(24).toString('base64url');
export const webhookSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
/** All that a gateway in production needs. */
export const complete = {
  NODE_ENV: 'production',
  SERVICE_URL: 'https://service.example.com',
  SERVICE_API_KEY: secretText(),
  WEBHOOK_SECRETS: webhookSecret(),
  GATEWAY_API_KEYS: secretText(),
  VIEWER_TOKEN_SECRET: secretText(),
  EVENT_LOG_KEY: key.toString('base64'),
  AUDIT_TRAIL_KEY: auditKey.toString('base64'),
};

export type Environment = Readonly<Record<string, string | undefined>>;

export function read(more: Environment = {}, base: Environment = complete) {
  return readConfig({ ...base, ...more }, () => savedSecrets);
}

/** Every fault that is named, one per line. */
export function faultsOf(more: Environment, base: Environment = complete): readonly string[] {
  try {
    read(more, base);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'CONFIG_INVALID') throw error;
    return error.message.split('\n').map((line) => line.replace(/^- /, ''));
  }
}
