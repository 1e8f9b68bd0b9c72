import { z } from 'zod';
import type { EarlierAttempt, IdempotencyRecords } from '../idempotency-records.ts';
import { messageIdDays } from '../log.ts';
import { rowOfIdempotencyRecord } from '../row.ts';
import type { Seal } from '../seal.ts';
import { redisNumber, redisText } from './codec.ts';
import type { Argument } from './connection.ts';
import { readScript, type Script } from './script.ts';

const lifeSeconds = String(messageIdDays * 86_400);
const scripts = {
  begin: readScript('reply-begin'),
  reclaim: readScript('reply-reclaim'),
  settle: readScript('reply-settle'),
};
const begunShape = z.union([
  z.tuple([redisText.pipe(z.literal('first'))]),
  z.tuple([redisText.pipe(z.literal('known')), redisText, redisNumber, z.instanceof(Buffer).nullable()]),
]);

/**
 * Idempotency records beside the log in Redis; the server itself forgets them after 30 days.
 * @param write runs a script durably
 */
export function createRedisIdempotencyRecords(
  write: (script: Script, args: readonly Argument[]) => Promise<readonly unknown[]>,
  seal: Seal,
): IdempotencyRecords {
  return {
    begin: async (key, fingerprint): Promise<EarlierAttempt> => {
      const begun = begunShape.parse(
        await write(scripts.begin, [key, seal.hashText(fingerprint), String(Date.now()), lifeSeconds]),
      );
      if (begun[0] === 'first') return { kind: 'first' };
      const [, kept, since, answer] = begun;
      if (!seal.isHashOfText(kept, fingerprint)) return { kind: 'conflict' };
      if (answer === null) return { kind: 'unsettled', since: new Date(since) };
      return {
        kind: 'finished',
        answer: JSON.parse(seal.open(answer, rowOfIdempotencyRecord(key)).toString('utf8')),
      };
    },
    reclaim: async (key, since) => {
      const [isOurs] = await write(scripts.reclaim, [key, String(since.getTime()), String(Date.now())]);
      return isOurs === 1;
    },
    finish: async (key, answer) => {
      await write(scripts.settle, [
        key,
        seal.close(Buffer.from(JSON.stringify(answer)), rowOfIdempotencyRecord(key)),
      ]);
    },
    release: async (key) => {
      await write(scripts.settle, [key, '']);
    },
  };
}
