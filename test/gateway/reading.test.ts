import { expect, test } from 'vitest';
import { z } from 'zod';
import { day, integer, list } from '../../gateway/domain/reading.ts';
import { startLab } from '../support/lab.ts';

const shape = z.object({ rows: list(z.object({ id: z.string() })) });

test.each([
  ['missing', {}, []],
  ['null', { rows: null }, []],
  ['no list', { rows: 'x' }, []],
  ['partly unreadable', { rows: [{ id: 'a' }, { id: 3 }, null] }, [{ id: 'a' }]],
])('a list that is %s makes nothing around it unreadable', (_name, value, rows) => {
  expect(shape.parse(value)).toEqual({ rows });
});

test('an order without its lists is still shown', async () => {
  await using lab = await startLab();
  const order = lab.sandbox.orders()[0];
  lab.sandbox.faults.add({
    path: `/v3/order/${order?.orderId}`,
    effect: {
      kind: 'answer',
      status: 200,
      body: JSON.stringify({ id: order?.orderId, user_id: order?.userId, order_transaction: { id: 't-1' } }),
    },
  });
  const answer = await lab.query(
    `{ order(id: "${order?.orderId}") { events { id } status { stage } transaction { id } } }`,
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data.order).toEqual({ events: [], status: { stage: 'UNKNOWN' }, transaction: { id: 't-1' } });
});

test.each([
  ['2026-02-28', '2026-02-28'],
  ['2026-02-28T23:59:59Z', '2026-02-28'],
  ['2026-02-30', null],
  ['2026-13-01', null],
  ['tomorrow', null],
])('the day %s is read as %s', (given, expected) => {
  expect(day.parse(given)).toBe(expected);
});

test.each([
  [7, 7],
  [2 ** 31, null],
  [1.5, null],
  ['7', null],
])('the whole number %s is read as %s', (given, expected) => {
  expect(integer.parse(given)).toBe(expected);
});
