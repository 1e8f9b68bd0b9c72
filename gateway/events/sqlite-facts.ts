import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { z } from 'zod';
import { hashFactKey } from './fact-key.ts';
import type { FactQuery, NewFact, NewMessage, StoredFact } from './log.ts';
import type { Seal } from './seal.ts';

const tables = `
CREATE TABLE IF NOT EXISTS facts (
  user_id TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  position INTEGER NOT NULL, received_at INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (user_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS facts_by_time ON facts (user_id, kind, at);
CREATE INDEX IF NOT EXISTS facts_by_position ON facts (position);
`;

const factRow = z.object({
  at: z.number(),
  position: z.number(),
  received_at: z.number(),
  value: z.instanceof(Uint8Array),
});

export interface FactStatements {
  /** Keeps the facts of a message at its position; to be called in the transaction of its append. */
  readonly keep: (message: NewMessage, facts: readonly NewFact[], position: number) => void;
  readonly read: (query: FactQuery, limit: number) => readonly StoredFact[];
  /** Drops facts whose message stands at or before this position. */
  readonly prune: (through: number) => void;
}

/** The SQL of the facts. Keys are kept as hashes: they name sources and times, and are only ever compared. */
export function createFactStatements(database: DatabaseSync, seal: Seal): FactStatements {
  database.exec(tables);
  const upsert = database.prepare(
    `INSERT INTO facts (user_id, kind, key, at, position, received_at, value) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (user_id, kind, key) DO UPDATE SET at = excluded.at, position = excluded.position,
      received_at = excluded.received_at, value = excluded.value`,
  );
  const deleteThrough = database.prepare('DELETE FROM facts WHERE position <= ?');
  return {
    keep: ({ userId, receivedAt }, facts, position) => {
      if (userId === null) return;
      for (const { kind, key, at, value } of facts) {
        const place = [hashFactKey(key), at.getTime(), position, receivedAt.getTime()];
        upsert.run(userId, kind, ...place, seal.close(value));
      }
    },
    read: (query, limit) => {
      const { where, values } = toConditions(query);
      return database
        .prepare(
          `SELECT at, position, received_at, value FROM facts WHERE ${where}
            ORDER BY at DESC, position DESC, key LIMIT ?`,
        )
        .all(...values, limit)
        .map((row) => toFact(factRow.parse(row), seal));
    },
    prune: (through) => {
      deleteThrough.run(through);
    },
  };
}

function toFact(row: z.infer<typeof factRow>, seal: Seal): StoredFact {
  return {
    at: new Date(row.at),
    position: row.position,
    receivedAt: new Date(row.received_at),
    value: seal.open(Buffer.from(row.value)),
  };
}

function toConditions(query: FactQuery): {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
} {
  const parts = ['user_id = ?', 'kind = ?'];
  const values: SQLInputValue[] = [query.userId, query.kind];
  const add = (part: string, value: SQLInputValue) => {
    parts.push(part);
    values.push(value);
  };
  if (query.key !== undefined) add('key = ?', hashFactKey(query.key));
  if (query.from !== undefined) add('at >= ?', query.from.getTime());
  if (query.before !== undefined) add('at < ?', query.before.getTime());
  return { where: parts.join(' AND '), values };
}
