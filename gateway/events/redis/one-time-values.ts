import { z } from 'zod';
import type { OneTimeValues } from '../one-time-values.ts';
import { rowOfOneTimeValue } from '../row.ts';
import type { Seal } from '../seal.ts';
import type { Argument } from './connection.ts';
import { readScript, type Script } from './script.ts';

const scripts = { put: readScript('deposit-keep'), take: readScript('deposit-take') };
const takenShape = z.tuple([z.instanceof(Buffer).nullable()]);

/**
 * One-time values beside the log in Redis; the server itself drops those whose time is over, by its own clock.
 * @param write runs a script durably
 */
export function createRedisOneTimeValues(
  write: (script: Script, args: readonly Argument[]) => Promise<readonly unknown[]>,
  seal: Seal,
): OneTimeValues {
  return {
    put: async (key, value, until) => {
      const lifeMs = until.getTime() - Date.now();
      if (lifeMs <= 0) return;
      const sealed = seal.close(Buffer.from(JSON.stringify(value)), rowOfOneTimeValue(key));
      await write(scripts.put, [key, sealed, String(lifeMs)]);
    },
    take: async (key) => {
      const [kept] = takenShape.parse(await write(scripts.take, [key]));
      return kept === null ? null : JSON.parse(seal.open(kept, rowOfOneTimeValue(key)).toString('utf8'));
    },
  };
}
