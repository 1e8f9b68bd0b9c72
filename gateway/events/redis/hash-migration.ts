import { z } from 'zod';
import type { Seal } from '../seal.ts';
import { redisText } from './codec.ts';
import type { Connection } from './connection.ts';
import { keyPrefix, readScript } from './script.ts';
import type { Calls } from './script-runner.ts';

const script = readScript('rehash');
const scannedShape = z.tuple([redisText, z.array(redisText)]);
/** Message ids read per step. */
const chunk = '500';
/** A position and a SHA-256 in hexadecimal digits; keyed hashes are longer. */
const plain = /^(\d+) ([0-9a-f]{64})$/;

export interface RehashingParts {
  readonly reads: Connection;
  readonly calls: Calls;
  readonly seal: Seal;
}

/**
 * Replaces plain hashes of an earlier version by keyed ones, in steps. It can be stopped and restarted at any time, and
 * several gateways may run it at once.
 */
export async function rehashAll({ reads, calls, seal }: RehashingParts): Promise<void> {
  let cursor = '0';
  do {
    const scan = ['HSCAN', `${keyPrefix}ids`, cursor, 'COUNT', chunk];
    const [next, idsAndKept] = scannedShape.parse(await reads.send(scan));
    const changes = idsAndKept.flatMap((kept, index) => {
      const [, position, hash] = (index % 2 === 1 && plain.exec(kept)) || [];
      if (position === undefined || hash === undefined) return [];
      const keyed = seal.hash(Buffer.from(hash, 'hex')).toString('hex');
      return [idsAndKept[index - 1] ?? '', kept, `${position} ${keyed}`];
    });
    if (changes.length > 0) await calls.write(script, changes);
    cursor = next;
  } while (cursor !== '0');
}
