import { expect, test } from 'vitest';
import { type Coding, chooseCoding } from '../../gateway/http/negotiation.ts';

const all: readonly Coding[] = ['identity', 'gzip', 'br'];

test.each<[string | null, Coding | null]>([
  [null, 'identity'],
  ['', 'identity'],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['deflate, zstd', 'identity'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['br;q=0.1, gzip;q=0.9', 'gzip'],
  ['br;q=0', 'identity'],
  ['identity, br;q=0.5', 'identity'],
  ['gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', null],
  ['*;q=0', null],
  ['br;q=0, gzip;q=0, identity;q=0', null],
  ['br;q=nonsense', 'identity'],
  [';;;,=,"', 'identity'],
  ['brotli, gzipped, x-br', 'identity'],
  ['__proto__, constructor', 'identity'],
])('Accept-Encoding %j is answered with %s', (header, coding) => {
  expect(chooseCoding(header, all)).toBe(coding);
});

test('only available codings are chosen', () => {
  expect(chooseCoding('br, gzip', ['identity', 'gzip'])).toBe('gzip');
  expect(chooseCoding('br', ['identity'])).toBe('identity');
  expect(chooseCoding('identity;q=0, br', ['identity', 'gzip'])).toBe(null);
});

test('a header that is far longer than any browser sends is not read', () => {
  expect(chooseCoding(`br${', a'.repeat(5000)}`, all)).toBe('identity');
});
