import { expect, test } from 'vitest';
import { z } from 'zod';
import { list } from '../../gateway/domain/reading.ts';

const rows = z.object({ rows: list(z.object({ id: z.string() })) });

test.each([
  [
    'a list with unreadable rows',
    { rows: [{ id: 'a' }, null, 3, { id: 4 }, { id: 'b' }] },
    [{ id: 'a' }, { id: 'b' }],
  ],
  ['something that is no list', { rows: 'none' }, []],
  ['null', { rows: null }, []],
  ['nothing, not even the key', {}, []],
])('a list reads %s without making its object unreadable', (_name, json, expected) => {
  expect(rows.parse(json)).toEqual({ rows: expected });
});
