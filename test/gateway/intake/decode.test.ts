import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decode } from '../../../gateway/intake/decode.ts';

const mebibyte = 1024 * 1024;
const json = 'application/json';
const text = Buffer.from('{"event_type":"some.event"}');

test.each([
  ['plain JSON', { contentType: json, body: text }],
  ['a type with a parameter', { contentType: 'Application/JSON; charset=utf-8', body: text }],
  ['the encoding identity', { contentType: json, contentEncoding: 'identity', body: text }],
  ['gzip', { contentType: json, contentEncoding: 'gzip', body: gzipSync(text) }],
  ['gzip in capitals', { contentType: json, contentEncoding: 'GZIP', body: gzipSync(text) }],
])('reads %s', (_, encoded) => {
  expect(decode(encoded)).toEqual({ body: text, isDecoded: true });
});

test.each([
  ['no type', { body: text }],
  ['another type', { contentType: 'text/plain', body: text }],
  ['a type that only begins like JSON', { contentType: 'application/jsonx', body: text }],
  ['another encoding', { contentType: json, contentEncoding: 'br', body: brotliCompressSync(text) }],
  ['bytes that are not gzip', { contentType: json, contentEncoding: 'gzip', body: text }],
  ['broken gzip', { contentType: json, contentEncoding: 'gzip', body: gzipSync(text).subarray(0, 15) }],
  ['bytes that are not UTF-8', { contentType: json, body: Buffer.from([0x22, 0xff, 0x22]) }],
  [
    'a bomb',
    { contentType: json, contentEncoding: 'gzip', body: gzipSync(Buffer.alloc(64 * mebibyte, ' ')) },
  ],
])('leaves %s as it came', (_, encoded) => {
  expect(decode(encoded)).toEqual({ body: encoded.body, isDecoded: false });
});

test('stores at most 1 MiB of a message that is larger', () => {
  const large = { contentType: json, body: Buffer.alloc(mebibyte + 1, ' ') };
  expect(decode({ ...large, body: large.body.subarray(1) }).isDecoded).toBe(true);
  const { body, isDecoded } = decode(large);
  expect({ length: body.length, isDecoded }).toEqual({ length: mebibyte, isDecoded: false });
});
