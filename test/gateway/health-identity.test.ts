import { describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../gateway/events/sqlite/store.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { makeFolder } from '../support/folder.ts';
import { type Lab, startLab, webhookSecret } from '../support/lab.ts';
import { newMessage } from '../support/messages.ts';

const source = { name: 'Oura', slug: 'oura', logo: null };
const wearer = (lab: Lab) => lab.sandbox.users()[0]?.userId ?? '';

async function send(lab: Lab, eventType: string, ...payloads: readonly unknown[]): Promise<void> {
  for (const payload of payloads) {
    lab.sandbox.webhooks.send(eventType, payload, { userId: wearer(lab) });
    await lab.sandbox.webhooks.settled();
  }
}

async function read(lab: Lab, field: string): Promise<readonly unknown[]> {
  const { data, errors } = await lab.query(`{ user(id: "${wearer(lab)}") { rows: ${field} } }`);
  expect(errors).toBeUndefined();
  return data.user.rows;
}

const at = '2026-03-02T08:00:00+00:00';
const cholesterol = (values: Readonly<Record<string, number>>) => ({
  source,
  data: Object.entries(values).map(([type, value]) => ({ timestamp: at, type, value, unit: 'mmol/L' })),
});
const samples = 'healthSamples(resource: "cholesterol") { type value }';
const byType = (rows: readonly unknown[]) => new Set(rows);

describe('samples', () => {
  test('of one instant that differ in their type are stored beside each other, and each is replaced by itself', async () => {
    await using lab = await startLab();
    await send(
      lab,
      'daily.data.cholesterol.created',
      cholesterol({ ldl: 2.5, hdl: 1.4, total: 4.6, triglycerides: 1.1 }),
      cholesterol({ hdl: 1.5 }),
    );
    const rows = await read(lab, samples);
    expect(rows).toHaveLength(4);
    expect(byType(rows)).toEqual(
      new Set([
        { type: 'ldl', value: 2.5 },
        { type: 'hdl', value: 1.5 },
        { type: 'total', value: 4.6 },
        { type: 'triglycerides', value: 1.1 },
      ]),
    );
  });

  test('of an interval without a timestamp are found under their start, and replaced there', async () => {
    await using lab = await startLab();
    const bucket = (hour: string, value: number) => ({
      start: `2026-03-02T${hour}:00:00Z`,
      end: `2026-03-02T${hour}:59:59Z`,
      value,
      unit: 'count',
      type: null,
    });
    await send(
      lab,
      'daily.data.steps.created',
      { source, data: [bucket('08', 100), bucket('09', 200), bucket('10', 300)] },
      { source, data: [{ ...bucket('09', 250), end: '2026-03-02T09:30:00Z' }] },
    );
    const stretch = 'from: "2026-03-02T08:30:00Z", to: "2026-03-02T10:00:00Z"';
    expect(
      await read(lab, `healthSamples(resource: "steps", ${stretch}) { timestamp start end value }`),
    ).toEqual([
      {
        timestamp: null,
        start: '2026-03-02T10:00:00.000Z',
        end: '2026-03-02T10:59:59.000Z',
        value: 300,
      },
      {
        timestamp: null,
        start: '2026-03-02T09:00:00.000Z',
        end: '2026-03-02T09:30:00.000Z',
        value: 250,
      },
    ]);
  });

  test('that were stored before their type counted are replaced by their newer values', async () => {
    using folder = makeFolder();
    const file = folder.file('events.db');
    const [user] = createSandbox({ apiKey: 'key', webhookSecret }).users();
    const { log } = await openSqliteStore(file, { keys: [], access: 'exclusive' });
    const [sample] = cholesterol({ hdl: 1.4 }).data;
    await log.append(
      newMessage('old', {
        userId: user?.userId ?? '',
        receivedAt: new Date(),
        facts: [
          {
            kind: 'sample:cholesterol',
            key: JSON.stringify(['oura', null, Date.UTC(2026, 2, 2, 8)]),
            at: new Date(Date.UTC(2026, 2, 2, 8)),
            value: Buffer.from(JSON.stringify({ source, source_id: null, sample })),
          },
        ],
      }),
    );
    await log.close();
    await using lab = await startLab({ env: { EVENT_LOG: `sqlite:${file}` } });
    expect(await read(lab, samples)).toEqual([{ type: 'hdl', value: 1.4 }]);

    await send(lab, 'daily.data.cholesterol.created', cholesterol({ ldl: 2.5, hdl: 1.5 }));

    const rows = await read(lab, samples);
    expect(rows).toHaveLength(2);
    expect(byType(rows)).toEqual(
      new Set([
        { type: 'ldl', value: 2.5 },
        { type: 'hdl', value: 1.5 },
      ]),
    );
  });
});

describe('summaries without a calendar date', () => {
  const inMarch = 'from: "2026-03-02", to: "2026-03-02"';
  const found = (lab: Lab, resource: string) =>
    read(lab, `healthSummaries(resource: "${resource}", ${inMarch}) { id calendarDate }`);

  test.each([
    ['electrocardiogram', { session_start: '2026-03-02T08:00:00+00:00' }, null],
    // In the evening of the day before at the user's place is on that day.
    ['sleep_cycle', { session_start: '2026-03-03T02:00:00Z', timezone_offset: -25_200 }, '2026-03-02'],
    ['menstrual_cycle', { period_start: '2026-03-02', period_end: '2026-03-06' }, '2026-03-02'],
    ['meal', { date: '2026-03-02' }, '2026-03-02'],
  ])('of %s are found by when they began', async (resource, payload, calendarDate) => {
    await using lab = await startLab();
    await send(lab, `daily.data.${resource}.created`, { id: 's-1', source, ...payload });
    expect(await found(lab, resource)).toEqual([{ id: 's-1', calendarDate }]);
  });
});
