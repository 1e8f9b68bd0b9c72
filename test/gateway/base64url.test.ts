import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url } from '../../gateway/parse/bytes.ts';

const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array));

test('canonical base64url decodes to its bytes', () => {
  fc.assert(
    fc.property(bytes, (some) => void expect(decodeBase64url(some.toString('base64url'))).toEqual(some)),
  );
});

test('no two texts decode to the same bytes', () => {
  const characters = fc.constantFrom(...'AQgwIMz_-+/= \n.é'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 6 }), (text) => {
      const read = decodeBase64url(text);
      expect(read === null ? text : read.toString('base64url')).toBe(text);
    }),
  );
});

test.each(['QQ==', 'QQ=', 'QR', 'Q', 'QQ QQ', '+A', '/w', 'QQ\n', 'QQ.'])('%j is none', (text) => {
  expect(decodeBase64url(text)).toBeNull();
});
