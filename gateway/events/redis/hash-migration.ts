import { z } from 'zod';
import type { Seal } from '../seal.ts';
import { keyPrefix, redisText } from './codec.ts';
import type { RedisConnection } from './connection.ts';
import { readScript, type ScriptRunner } from './script-runner.ts';

const script = readScript('rehash');
const scannedShape = z.tuple([redisText, z.array(redisText)]);
/** Message ids read per step. */
const chunk = '500';
/** A position and a SHA-256 in hexadecimal digits; keyed hashes are longer. */
const plain = /^(\d+) ([0-9a-f]{64})$/;

interface MigrationParts {
  readonly reads: RedisConnection;
  readonly runner: ScriptRunner;
  readonly seal: Seal;
}

/**
 * Replaces plain hashes of an earlier version by keyed ones, in steps. It can be stopped and restarted at any time, and
 * several gateways may run it at once.
 */
export async function rehashAll({ reads, runner, seal }: MigrationParts): Promise<void> {
  let cursor = '0';
  do {
    const scan = ['HSCAN', `${keyPrefix}ids`, cursor, 'COUNT', chunk];
    const [next, idsAndEntries] = scannedShape.parse(await reads.send(scan));
    const changes = idsAndEntries.flatMap((entry, index) => {
      const [, position, hash] = (index % 2 === 1 && plain.exec(entry)) || [];
      if (position === undefined || hash === undefined) return [];
      const keyed = seal.hash(Buffer.from(hash, 'hex')).toString('hex');
      return [idsAndEntries[index - 1] ?? '', entry, `${position} ${keyed}`];
    });
    if (changes.length > 0) await runner.write(script, changes);
    cursor = next;
  } while (cursor !== '0');
}
