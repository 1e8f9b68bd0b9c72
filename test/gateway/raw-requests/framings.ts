import { gzipSync } from 'node:zlib';
import { type Header, usually } from './choices.ts';

/** How a body is sent, and what the head says of its length. Each request is whole, or wrong at once: nobody waits for more. */
export type Framing = (body: Buffer) => { readonly headers: readonly Header[]; readonly sent: Buffer };

const announced =
  (...lengths: readonly ((bytes: number) => string)[]): Framing =>
  (body) => ({
    headers: lengths.map((length) => ['Content-Length', length(body.length)]),
    sent: body,
  });

const encoded =
  (encoding: string, encode: (body: Buffer) => Buffer): Framing =>
  (body) => {
    const sent = encode(body);
    return {
      headers: [
        ['Content-Encoding', encoding],
        ['Content-Length', String(sent.length)],
      ],
      sent,
    };
  };

interface Chunking {
  readonly size?: number;
  readonly coding?: string;
  readonly extension?: string;
  readonly end?: string;
  readonly more?: readonly Header[];
}

const chunked =
  ({ size = 50, coding = 'chunked', extension = '', end = '0\r\n\r\n', more = [] }: Chunking): Framing =>
  (body) => {
    const parts: Buffer[] = [];
    for (let at = 0; at < body.length; at += size) {
      const part = body.subarray(at, at + size);
      parts.push(Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from('\r\n'));
    }
    const headers: readonly Header[] = [['Transfer-Encoding', coding], ...more];
    return { headers, sent: Buffer.concat([...parts, Buffer.from(end)]) };
  };

const same = (body: Buffer): Buffer => body;

export const framings = usually<Framing>(announced(String), [
  announced(),
  announced(String, String),
  announced(String, () => '1'),
  announced((bytes) => `0${bytes}`),
  announced((bytes) => ` ${bytes} `),
  announced((bytes) => `+${bytes}`),
  announced((bytes) => `${bytes}, ${bytes}`),
  announced((bytes) => `0x${bytes.toString(16)}`),
  announced((bytes) => `${bytes}.0`),
  announced((bytes) => String(Math.max(0, bytes - 1))),
  announced(() => '0'),
  announced(() => ''),
  announced(() => '-1'),
  announced(() => '9'.repeat(30)),
  encoded('gzip', gzipSync),
  encoded('gzip', same),
  encoded('identity', same),
  encoded('', same),
  chunked({}),
  chunked({ size: 1 }),
  chunked({ size: 1000 }),
  chunked({ extension: ';a=b' }),
  chunked({ extension: ' ' }),
  chunked({ end: '0\r\nX-Trailer: a\r\n\r\n' }),
  chunked({ end: '00000\r\n\r\n' }),
  chunked({ end: 'x\r\n\r\n' }),
  chunked({ coding: 'Chunked' }),
  chunked({ coding: 'gzip, chunked' }),
  chunked({ coding: 'identity' }),
  chunked({ more: [['Content-Length', '5']] }),
  chunked({ more: [['Transfer-Encoding', 'chunked']] }),
]);
