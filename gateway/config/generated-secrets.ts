import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../errors.ts';
import { type GeneratedSecrets, generatedSecretsShape } from './reading.ts';

/**
 * The secrets that a gateway generated for itself, stored in `<folder>/secrets.json` (mode 0600), so that keys and tokens
 * stay valid after a restart. Two processes that start at once agree: the first to create the file wins.
 * @throws GatewayError CONFIG_INVALID when the file is there but unreadable
 */
export function loadSecrets(folder: string): GeneratedSecrets {
  const path = join(folder, 'secrets.json');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) createFile(path, `${JSON.stringify(generateSecrets(), null, 2)}\n`);
  } catch (cause) {
    throw new GatewayError(
      'CONFIG_INVALID',
      `- ${folder} cannot be written, and the secrets must be stored there.`,
      { cause },
    );
  }
  return readSecrets(path);
}

/**
 * Creates the file whole or not at all: the name is a link to a finished file, so neither a kill nor a loss of power leaves a
 * partial one.
 */
function createFile(path: string, text: string): void {
  const unfinished = `${path}.${randomUUID()}`;
  writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(unfinished);
  }
}

function generateSecrets(): GeneratedSecrets {
  return {
    serviceApiKey: `sk_us_${randomBytes(24).toString('base64url')}`,
    webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
    gatewayApiKey: `lg_${randomBytes(24).toString('base64url')}`,
    viewerTokenSecret: randomBytes(48).toString('base64url'),
  };
}

function readSecrets(path: string): GeneratedSecrets {
  try {
    return generatedSecretsShape.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new GatewayError(
      'CONFIG_INVALID',
      `- ${path} cannot be read. Delete it to have new secrets made.`,
      {
        cause,
      },
    );
  }
}
