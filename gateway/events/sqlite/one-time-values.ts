import type { DatabaseSync } from 'node:sqlite';
import { rowOfOneTimeValue } from '../row.ts';
import type { Seal } from '../seal.ts';
import { readBytes, readNumber } from './rows.ts';

/** How one-time values are written; each call is one transaction of one statement, or two that need not go together. */
export function createDepositing(database: DatabaseSync, seal: Seal) {
  const insert = database.prepare('INSERT INTO deposits (key, until, value) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM deposits WHERE key = ? RETURNING until, value');
  const forget = database.prepare('DELETE FROM deposits WHERE until <= ?');

  return {
    putOneTimeValue: (
      key: string,
      value: unknown,
      { until, now }: { readonly until: Date; readonly now: Date },
    ): void => {
      forget.run(now.getTime());
      insert.run(
        key,
        until.getTime(),
        seal.close(Buffer.from(JSON.stringify(value)), rowOfOneTimeValue(key)),
      );
    },
    takeOneTimeValue: (key: string, now: Date): unknown => {
      const row = remove.get(key);
      if (row === undefined || readNumber(row, 'until') <= now.getTime()) return null;
      return JSON.parse(seal.open(readBytes(row, 'value'), rowOfOneTimeValue(key)).toString('utf8'));
    },
  };
}
