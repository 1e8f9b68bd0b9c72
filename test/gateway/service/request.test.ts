import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHeaders, toPath } from '../../../gateway/service/exchange.ts';

const call = { operation: 'thing.list', method: 'GET', path: '/things' } as const;
const word = fc.oneof(fc.string({ maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 8 }));

test('a query of any text is encoded as a form', () => {
  const query = fc.dictionary(word, fc.array(fc.oneof(word, fc.integer()), { minLength: 1, maxLength: 3 }), {
    minKeys: 1,
  });
  fc.assert(
    fc.property(query, (given) => {
      const pairs = Object.entries(given).flatMap(([name, values]) =>
        values.map((value) => [name, String(value)]),
      );
      expect(toPath('/', { ...call, query: given })).toBe(`/things?${new URLSearchParams(pairs)}`);
    }),
  );
});

test('a query that servers would refuse for its length is refused before it is encoded', () => {
  const query = { ids: Array(400).fill('x'.repeat(37)) };
  expect(toPath('/', { ...call, query }).length).toBeGreaterThan(16_000);
  expect(() => toPath('/', { ...call, query: { text: 'x'.repeat(16_000) } })).toThrow(
    'The filter is too long.',
  );
});

test('no call replaces the key, or sends it twice', () => {
  const headers = { 'X-KEY': 'mine', Accept: 'text/html', 'Idempotency-Key': 'a' };
  expect(toHeaders({ ...call, headers }, { 'X-Key': 'true' })).toEqual({
    ...{ 'x-key': 'true', accept: 'application/json', 'accept-encoding': 'gzip, br', 'idempotency-key': 'a' },
  });
});
