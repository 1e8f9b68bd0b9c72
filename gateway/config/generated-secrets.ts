import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import type { KeptSecrets } from './reading.ts';

const keptSecretsShape = z.object({
  serviceApiKey: z.string().min(1),
  webhookSecret: z.string().min(1),
  gatewayApiKey: z.string().min(1),
  viewerTokenSecret: z.string().min(32),
});

/**
 * The secrets a gateway made for itself, kept in `<folder>/secrets.json` (mode 0600), so that a restart keeps
 * keys and tokens valid. Two processes that start at once agree: the first to create the file wins.
 * @throws GatewayError CONFIG_INVALID when the file is there but unreadable
 */
export function keepSecrets(folder: string): KeptSecrets {
  const path = join(folder, 'secrets.json');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) createFile(path, `${JSON.stringify(generateSecrets(), null, 2)}\n`);
  } catch (cause) {
    throw new GatewayError(
      'CONFIG_INVALID',
      `- ${folder} cannot be written, and secrets must be kept there.`,
      { cause },
    );
  }
  return readSecrets(path);
}

/** Whole or not at all: a link to a finished file, so that a kill in between leaves nothing half written. */
function createFile(path: string, text: string): void {
  const unfinished = `${path}.${randomUUID()}`;
  writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(unfinished);
  }
}

function generateSecrets(): KeptSecrets {
  return {
    serviceApiKey: `sk_us_${randomBytes(24).toString('base64url')}`,
    webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
    gatewayApiKey: `lg_${randomBytes(24).toString('base64url')}`,
    viewerTokenSecret: randomBytes(48).toString('base64url'),
  };
}

function readSecrets(path: string): KeptSecrets {
  try {
    return keptSecretsShape.parse(JSON.parse(readFileSync(path, 'utf8')));
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
