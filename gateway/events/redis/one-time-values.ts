import { z } from 'zod';
import type { Deposits } from '../one-time-values.ts';
import { rowOfDeposit } from '../row.ts';
import type { Seal } from '../seal.ts';
import type { Argument } from './connection.ts';
import { readScript, type Script } from './script.ts';

const scripts = { keep: readScript('deposit-keep'), take: readScript('deposit-take') };
const takenShape = z.tuple([z.instanceof(Buffer).nullable()]);

/**
 * Deposits beside the log in Redis; the server itself drops those whose time is over, by its own clock.
 * @param write runs a script durably
 */
export function createRedisDeposits(
  write: (script: Script, args: readonly Argument[]) => Promise<readonly unknown[]>,
  seal: Seal,
): Deposits {
  return {
    keep: async (key, value, until) => {
      const lifeMs = until.getTime() - Date.now();
      if (lifeMs <= 0) return;
      const sealed = seal.close(Buffer.from(JSON.stringify(value)), rowOfDeposit(key));
      await write(scripts.keep, [key, sealed, String(lifeMs)]);
    },
    take: async (key) => {
      const [kept] = takenShape.parse(await write(scripts.take, [key]));
      return kept === null ? null : JSON.parse(seal.open(kept, rowOfDeposit(key)).toString('utf8'));
    },
  };
}
