import { expect, test } from 'vitest';
import { list, record, required, text } from '../../gateway/domain/parse.ts';

const readRows = list(record((raw) => ({ id: required(raw, 'id', text) })));
const readAnswer = record((raw) => ({ rows: readRows(raw.rows) }));

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
  expect(readAnswer(json)).toEqual({ rows: expected });
});
