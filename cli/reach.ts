import { readFile } from 'node:fs/promises';
import { createLabgraphClient, type LabgraphClient } from '../client/src/index.ts';
import type { Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';

/** A gateway that a command speaks to. */
export interface Reach {
  /** Its GraphQL endpoint. */
  readonly url: string;
  readonly client: LabgraphClient;
}

/** Options of the commands that speak to a gateway. */
export const reachOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
} as const;

/** @throws GatewayError BAD_USER_INPUT without an address or a key */
export async function reach(session: Session<null>): Promise<Reach> {
  const { settings, options } = session;
  const url = readEndpoint(session);
  const file = options['key-file'];
  const key = typeof file === 'string' ? await readText(file) : (options.key ?? settings.env.LABGRAPH_KEY);
  if (typeof key !== 'string' || key === '') {
    throw new GatewayError('BAD_USER_INPUT', 'Set LABGRAPH_KEY, or name a file with --key-file.');
  }
  return { url, client: createLabgraphClient({ url, token: key }) };
}

/** The GraphQL endpoint of the gateway. @throws GatewayError BAD_USER_INPUT without an address */
export function readEndpoint({ settings, options }: Session<null>): string {
  const url = options.url ?? settings.env.LABGRAPH_URL ?? 'http://127.0.0.1:4000';
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw new GatewayError('BAD_USER_INPUT', '--url or LABGRAPH_URL is the address of a gateway.');
  }
  return new URL('graphql', url.endsWith('/') ? url : `${url}/`).href;
}

/** The text of a file without the line's end. @throws GatewayError BAD_USER_INPUT if it cannot be read */
export async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', 'A file that was named cannot be read.', { cause });
  }
}
