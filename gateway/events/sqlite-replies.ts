import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { Earlier, Replies } from './replies.ts';
import type { Seal } from './seal.ts';

const replyRow = z.object({
  fingerprint: z.string(),
  since: z.number(),
  answer: z.instanceof(Uint8Array).nullable(),
});

/** Replies in the event log's own file; answers are sealed like event bodies. */
export function createSqliteReplies(database: DatabaseSync, seal: Seal): Replies {
  const insert = database.prepare(
    'INSERT INTO replies (key, fingerprint, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const select = database.prepare('SELECT fingerprint, since, answer FROM replies WHERE key = ?');
  const update = database.prepare('UPDATE replies SET answer = ? WHERE key = ?');
  const remove = database.prepare('DELETE FROM replies WHERE key = ? AND answer IS NULL');
  return {
    begin: async (key, fingerprint): Promise<Earlier> => {
      if (insert.run(key, fingerprint, Date.now()).changes === 1) return { kind: 'first' };
      const row = replyRow.parse(select.get(key));
      if (row.fingerprint !== fingerprint) return { kind: 'conflict' };
      if (row.answer === null) return { kind: 'unsettled', since: new Date(row.since) };
      return { kind: 'finished', answer: JSON.parse(seal.open(Buffer.from(row.answer)).toString('utf8')) };
    },
    finish: async (key, answer) => {
      update.run(seal.close(Buffer.from(JSON.stringify(answer))), key);
    },
    release: async (key) => {
      remove.run(key);
    },
  };
}
