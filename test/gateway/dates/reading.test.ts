import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { day, timestamp } from '../../../gateway/domain/parse.ts';

/** What the service sends, the instant it is, and the day it is. */
const rows: readonly (readonly [sent: unknown, instant: string | null, day: string | null])[] = [
  ['2026-03-04T09:30:00Z', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  ['2026-03-04T09:30:00+00:00', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  ['2026-03-04T09:30:00.123456Z', '2026-03-04T09:30:00.123Z', '2026-03-04'],
  ['2026-03-04T09:30:00,5Z', '2026-03-04T09:30:00.500Z', '2026-03-04'],
  ['2026-03-04t09:30z', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  ['2026-03-04T23:30:00-05:00', '2026-03-05T04:30:00.000Z', '2026-03-04'],
  ['2026-03-04T23:30:00-0500', '2026-03-05T04:30:00.000Z', '2026-03-04'],
  ['2026-03-04T23:30:00-05', '2026-03-05T04:30:00.000Z', '2026-03-04'],
  ['2026-03-04 23:30:00+14:00', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  // Without an offset it is UTC, wherever the gateway runs.
  ['2026-03-04T09:30:00', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  ['2026-03-04 09:30:00', '2026-03-04T09:30:00.000Z', '2026-03-04'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z', '2024-02-29'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z', '0001-01-01'],
  // A day stays a day.
  ['2026-03-04', null, '2026-03-04'],
  ['1993-08-18', null, '1993-08-18'],
  // Days and times that are none.
  ['2026-02-30', null, null],
  ['2026-02-30T09:30:00Z', null, null],
  ['2025-02-29T00:00:00Z', null, null],
  ['2026-13-01', null, null],
  ['2026-00-10', null, null],
  ['2026-03-04T24:00:00Z', null, null],
  ['2026-03-04T09:60:00Z', null, null],
  ['2026-03-04T09:30:61Z', null, null],
  ['2026-03-04T09:30:00+24:00', null, null],
  ['2026-03-04T09:30:00+05:60', null, null],
  ['0000-01-01T00:00:00+01:00', null, null],
  ['9999-12-31T23:59:59-01:00', null, null],
  // Texts of the service's own document, and others that `new Date` makes something of.
  ['Not given', null, null],
  ['Not given 12', null, null],
  ['18/08/1993', null, null],
  ['03/04/2026', null, null],
  ['4 March 2026', null, null],
  ['Wed, 04 Mar 2026 09:30:00 GMT', null, null],
  ['2026-3-4', null, null],
  ['2026', null, null],
  ['2026-03', null, null],
  ['20260304', null, null],
  ['+002026-03-04T09:30:00Z', null, null],
  ['12', null, null],
  ['2026-03-04T09', null, null],
  ['2026-03-04T09:30:00Z ', null, null],
  ['2026-03-04T09:30:00Z\n', null, null],
  ['2026-03-04T09:30:00 (EST)', null, null],
  ['2026-03-04x', null, null],
  ['٢٠٢٦-03-04', null, null],
  ['', null, null],
  [1_772_616_600_000, null, null],
  [null, null, null],
  [{ timestamp: '2026-03-04T09:30:00Z' }, null, null],
];

describe('a date of the service is ISO 8601 or null', () => {
  test.each(rows)('%j is the instant %j and the day %j', (sent, instant, asDay) => {
    expect([timestamp(sent)?.toISOString() ?? null, day(sent)]).toEqual([instant, asDay]);
  });
});

test('dates are read alike wherever the gateway runs', () => {
  const texts = JSON.stringify(rows.flatMap(([sent]) => (typeof sent === 'string' ? [sent] : [])));
  const script = fileURLToPath(new URL('print.ts', import.meta.url));
  const printIn = (zone: string) =>
    execFileSync(process.execPath, [script, texts], { env: { ...process.env, TZ: zone }, encoding: 'utf8' });

  const utc = printIn('UTC');

  expect(JSON.parse(utc)).toHaveLength(JSON.parse(texts).length);
  for (const zone of ['America/New_York', 'Asia/Kolkata', 'Pacific/Kiritimati', 'America/Sao_Paulo']) {
    expect(printIn(zone)).toBe(utc);
  }
});
