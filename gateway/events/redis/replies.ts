import { z } from 'zod';
import { messageIdDays } from '../log.ts';
import type { Earlier, Replies } from '../replies.ts';
import type { Seal } from '../seal.ts';
import type { Argument } from './connection.ts';
import { redisNumber, redisText } from './message.ts';
import { readScript, type Script } from './script.ts';

const lifeSeconds = String(messageIdDays * 86_400);
const scripts = {
  begin: readScript('reply-begin'),
  reclaim: readScript('reply-reclaim'),
  settle: readScript('reply-settle'),
};
const begunShape = z.union([
  z.tuple([redisText.pipe(z.enum(['first', 'conflict']))]),
  z.tuple([redisText.pipe(z.literal('finished')), z.instanceof(Buffer)]),
  z.tuple([redisText.pipe(z.literal('unsettled')), redisNumber]),
]);

/**
 * Replies beside the log in Redis; the server itself forgets them after 30 days.
 * @param write runs a script durably
 */
export function createRedisReplies(
  write: (script: Script, args: readonly Argument[]) => Promise<readonly unknown[]>,
  seal: Seal,
): Replies {
  return {
    begin: async (key, fingerprint): Promise<Earlier> => {
      const begun = begunShape.parse(
        await write(scripts.begin, [key, fingerprint, String(Date.now()), lifeSeconds]),
      );
      if (begun[0] === 'finished') {
        return { kind: 'finished', answer: JSON.parse(seal.open(begun[1]).toString('utf8')) };
      }
      return begun[0] === 'unsettled' ? { kind: 'unsettled', since: new Date(begun[1]) } : { kind: begun[0] };
    },
    reclaim: async (key, since) => {
      const [isOurs] = await write(scripts.reclaim, [key, String(since.getTime()), String(Date.now())]);
      return isOurs === 1;
    },
    finish: async (key, answer) => {
      await write(scripts.settle, [key, seal.close(Buffer.from(JSON.stringify(answer)))]);
    },
    release: async (key) => {
      await write(scripts.settle, [key, '']);
    },
  };
}
