import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Argument, type Connection, isAnswer } from './connection.ts';

/** What the names of all keys begin with. The braces put them into one slot, as a script over several keys needs. */
export const keyPrefix = '{labgraph}:';

/** A Lua script, run as one piece by the server: nobody sees it half done. */
export interface Script {
  readonly text: string;
  readonly hash: string;
}

const common = readFileSync(new URL('./scripts/common.lua', import.meta.url), 'utf8');

/** The script of this name in `scripts/`, with `common.lua` in front. */
export function readScript(name: string): Script {
  const text = `${common}\n${readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')}`;
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

/** Runs a script by its hash; with its text where the server does not know it (yet, or since a restart). */
export async function runScript(
  connection: Connection,
  { text, hash }: Script,
  args: readonly Argument[],
): Promise<unknown> {
  try {
    return await connection.send(['EVALSHA', hash, '1', keyPrefix, ...args]);
  } catch (error) {
    if (!isAnswer(error, 'NOSCRIPT')) throw error;
    return await connection.send(['EVAL', text, '1', keyPrefix, ...args]);
  }
}
