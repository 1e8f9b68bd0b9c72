import { describe, expect, test } from 'vitest';
import { type Answer, reset, text } from '../support/misbehaving-service.ts';
import { casesFor } from '../support/runs.ts';
import { promised } from './mutations/ask.ts';
import { type Asked, canary, type Row } from './mutations/row.ts';
import { rows } from './mutations/rows.ts';
import { openWorld, traceOfOne } from './mutations/world.ts';

type AskingRow = Row & { readonly asks: Asked };

const asking = rows.filter((row): row is AskingRow => row.asks !== null);
const writing = asking.filter(({ asks }) => asks.kind === 'write');
const reading = asking.filter(({ asks }) => asks.kind === 'read');
const alone = rows.filter(({ asks }) => asks === null);

const fault = (mayHaveBeenDone: boolean) => ({ word: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone });
const unsettled = { word: 'IDEMPOTENCY_UNSETTLED', mayHaveBeenDone: true };
const anyFault = { word: expect.stringMatching(/^(UPSTREAM_|IDEMPOTENCY_UNSETTLED)/), mayHaveBeenDone: true };

/** What is the truth in each case, by what the gateway can find out. */
function truthsOf({ success, again, asks: { canLook, waits } }: AskingRow) {
  const isBlind = waits && !canLook;
  return {
    isBlind,
    afterFailure: isBlind ? unsettled : { word: success },
    afterSilence: waits ? unsettled : { word: success },
    ofDone: canLook ? { word: success } : anyFault,
    ofDoneAgain: isBlind ? anyFault : { word: again },
  };
}

test('every mutation of the schema meets a service in trouble', () => {
  const met = [...writing, ...reading, ...alone].map(({ mutation }) => mutation);
  expect(met.toSorted()).toEqual([...promised.keys()].toSorted());
});

/** Each hides that something was done. */
const hiding: readonly (readonly [string, Answer])[] = [
  ['500', text(`${canary} failed`, 500)],
  ['503', text('', 503)],
  ['half an answer', text(`{"${canary}":`)],
  ['a cut connection', reset],
];

describe.each(writing)('$mutation', (row) => {
  const { call, canLook, waits } = row.asks;
  const turn = writing.indexOf(row);
  const truths = truthsOf(row);

  test.each(casesFor(turn, [500, 503]))(
    'is a fault after %d that did nothing, and can be repeated',
    async (status) => {
      await using world = await openWorld(row);
      const before = await world.trace();
      world.lab.spoil({ at: call, isDone: false, answer: text(`${canary} failed`, status) });
      expect(await world.call(world.variables)).toMatchObject(fault(!canLook));
      expect(await world.trace()).toEqual(before);
      expect(await world.call(world.variables)).toMatchObject(truths.afterFailure);
      expect(await world.trace()).toEqual(truths.isBlind ? before : await traceOfOne(row));
    },
  );

  test.each(casesFor(turn, hiding, 2))(
    'is done once where %s hides that it was done, and no answer says that it was not',
    async (_, answer) => {
      await using world = await openWorld(row);
      world.lab.spoil({ at: call, isDone: true, answer });
      expect(await world.call(world.variables)).toMatchObject(truths.ofDone);
      expect(await world.call(world.variables)).toMatchObject(truths.ofDoneAgain);
      expect(await world.trace()).toEqual(await traceOfOne(row));
    },
  );

  test('is open after a connection that was cut before anything was done', async () => {
    await using world = await openWorld(row);
    const before = await world.trace();
    world.lab.spoil({ at: call, isDone: false, answer: reset });
    expect(await world.call(world.variables)).toMatchObject(fault(true));
    expect(await world.call(world.variables)).toMatchObject(truths.afterSilence);
    expect(await world.trace()).toEqual(waits ? before : await traceOfOne(row));
  });
});

describe.each(reading)('$mutation, which only reads,', (row) => {
  const { call } = row.asks;

  test.each([500, 503])('is a fault after %d that did nothing, and passes', async (status) => {
    await using world = await openWorld(row);
    world.lab.spoil({ at: call, isDone: false, answer: text(`${canary} failed`, status), times: 3 });
    const failed = await world.call(world.variables);
    const later = await world.call(world.variables);
    expect(failed).toMatchObject(fault(false));
    expect(later.word).toBe(row.success);
    expect(world.lab.sent.filter((request) => !request.call.startsWith('GET'))).toEqual([]);
  });

  test('asks again where an answer is lost', async () => {
    await using world = await openWorld(row);
    world.lab.spoil({ at: call, isDone: true, answer: reset });
    expect((await world.call(world.variables)).word).toBe(row.success);
  });
});

test.each(alone)('$mutation needs no service at all', async (row) => {
  await using world = await openWorld(row);
  world.lab.spoil({ at: /^/, isDone: false, answer: text('', 500), times: 10 });
  expect((await world.call(world.variables)).word).toBe(row.success);
  expect(world.lab.sent).toEqual([]);
});
