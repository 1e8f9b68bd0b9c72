import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

const text = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
const origin = 'https://app.example.com';

async function get(lab: Lab, headers: Readonly<Record<string, string>>) {
  const { statusCode, headers: sent, body } = await request(`${lab.url}/schema.graphql`, { headers });
  return { status: statusCode, headers: sent, bytes: Buffer.from(await body.arrayBuffer()) };
}

test('GET /schema.graphql is the committed schema, compressed and revalidated, for those who may introspect it', async () => {
  await using lab = await startLab({ env: { ALLOWED_ORIGINS: origin } });
  const authorization = `Bearer ${gatewayKey}`;

  const plain = await get(lab, { authorization, origin });
  expect(plain).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  expect(plain.headers['access-control-allow-origin']).toBe(origin);
  expect(plain.headers.vary).toMatch(/accept-encoding/i);
  expect(plain.headers.vary).toMatch(/origin/i);
  expect(plain.bytes.toString()).toBe(text);

  const compressed = await get(lab, { authorization, 'accept-encoding': 'br' });
  expect(compressed.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(compressed.bytes).toString()).toBe(text);
  const etag = String(compressed.headers.etag);
  const again = await get(lab, { authorization, 'accept-encoding': 'br', 'if-none-match': etag });
  expect(again).toMatchObject({ status: 304, bytes: Buffer.alloc(0) });

  const viewer = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
  for (const [bearer, status, code] of [
    ['wrong', 401, 'UNAUTHENTICATED'],
    [viewer, 403, 'FORBIDDEN'],
  ] as const) {
    const refused = await get(lab, { authorization: `Bearer ${bearer}`, 'if-none-match': etag });
    expect(refused.status).toBe(status);
    expect(JSON.parse(refused.bytes.toString()).errors[0].extensions).toEqual({ code });
  }
});
