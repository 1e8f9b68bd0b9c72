import process from 'node:process';
import { text } from 'node:stream/consumers';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Command } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { readText } from './reach.ts';

export interface Signed {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/** The headers of a message at this moment, as Standard Webhooks names them. @throws GatewayError if the secret is none */
export function signMessage(secret: string, id: string, body: string): Signed {
  const at = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': openSecret(secret).sign(id, at, body),
  };
}

/** @throws GatewayError BAD_USER_INPUT if the text is not a secret */
export function openSecret(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', 'The secret is not whsec_ and base64.', { cause });
  }
}

async function readSecret(file: unknown): Promise<string> {
  if (typeof file !== 'string') {
    throw new GatewayError('BAD_USER_INPUT', 'Name a file with the secret: --secret-file.');
  }
  return await readText(file);
}

/** Signs what it reads on standard input. */
export const sign: Command<null> = {
  usage: '--secret-file <file> [--id <message>] < body',
  summary: 'prints the headers that sign a message (Standard Webhooks)',
  options: { 'secret-file': { type: 'string' }, id: { type: 'string' } },
  examples: ['--secret-file webhook.secret < event.json'],
  run: async ({ options, print }) => {
    const secret = await readSecret(options['secret-file']);
    const id = typeof options.id === 'string' ? options.id : `msg_${crypto.randomUUID()}`;
    await print({ ...signMessage(secret, id, await text(process.stdin)) });
    return true;
  },
};

/** Verifies what it reads on standard input. */
export const verify: Command<null> = {
  usage: '--secret-file <file> --id <message> --timestamp <seconds> --signature <v1,…> < body',
  summary: 'says whether a message has this signature and is at most five minutes old',
  options: {
    'secret-file': { type: 'string' },
    id: { type: 'string' },
    timestamp: { type: 'string' },
    signature: { type: 'string' },
  },
  examples: ['--secret-file webhook.secret --id msg_1 --timestamp 1795500000 --signature v1,… < event.json'],
  run: async ({ options, print }) => {
    const webhook = openSecret(await readSecret(options['secret-file']));
    const { id, timestamp, signature } = options;
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') {
      throw new GatewayError('BAD_USER_INPUT', 'Give the --id, --timestamp and --signature of the message.');
    }
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    const body = await text(process.stdin);
    // A signed body need not be JSON.
    const isGenuine = isVerified(() => webhook.verify(body, headers, { jsonParse: false }));
    await print({ isGenuine });
    return isGenuine;
  },
};

function isVerified(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
