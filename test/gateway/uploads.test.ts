import { expect, test } from 'vitest';
import type { Caller } from '../../gateway/caller/caller.ts';
import { createUploadGate, isUpload } from '../../gateway/edge/uploads.ts';

const team: Caller = { kind: 'TEAM' };
const viewer = (scopes: readonly string[]): Caller => ({
  kind: 'USER',
  userId: 'u',
  orderIds: null,
  scopes,
  expiresAt: new Date(Date.now() + 60_000),
  origins: null,
});

test('ten uploads at once are let in, the eleventh is asked to wait until one has ended', () => {
  const begin = createUploadGate();
  const ends = Array.from({ length: 10 }, () => begin(team));
  expect(() => begin(team)).toThrow(
    expect.objectContaining({ code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 2000 }),
  );
  ends[0]?.();
  expect(() => begin(viewer(['write:lab-reports']))).not.toThrow();
});

test('a caller that may not upload is refused and takes no place', () => {
  const begin = createUploadGate();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    expect(() => begin(viewer(['read:results']))).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  }
  expect(() => begin(team)).not.toThrow();
});

test.each([
  ['multipart/form-data; boundary=x', true],
  ['Multipart/Form-Data;boundary=x', true],
  ['multipart/form-data', false],
  ['multipart/form-datax; boundary=x', false],
  ['application/json', false],
  ['application/json; multipart/form-data;', false],
])('%s: an upload? %s', (type, expected) => {
  const request = new Request('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': type },
    body: 'x',
  });
  expect(isUpload(request)).toBe(expected);
});
