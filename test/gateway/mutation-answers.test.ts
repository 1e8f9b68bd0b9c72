import { describe, expect, test } from 'vitest';
import { type Answer, json, reset, text } from '../support/misbehaving-service.ts';
import { casesFor } from '../support/runs.ts';
import { type Asked, canary, type Row } from './mutations/row.ts';
import { rows } from './mutations/rows.ts';
import { openWorld, traceOfOne } from './mutations/world.ts';

type AskingRow = Row & { readonly asks: Asked };

const writing = rows.filter((row): row is AskingRow => row.asks?.kind === 'write');

const isFault = /^(UPSTREAM_|IDEMPOTENCY_UNSETTLED)/;
const page = `<!doctype html><title>${canary}</title>`;
const html = { 'content-type': 'text/html' };

/** Answers that say nothing of what was done: of no mutation of ours is one of these a success. */
const saysNothing: readonly (readonly [string, Answer])[] = [
  ['202 with nothing', text('', 202)],
  ['202 with a promise', json({ status: 'accepted', message: canary }, 202)],
  ['200 with a list', json([])],
  ['200 with a fault', json({ detail: canary })],
  ['200 with a page', text(page, 200, html)],
  ['302', text('', 302, { location: `http://127.0.0.1:9/${canary}` })],
  ['307', text('', 307, { location: `/${canary}` })],
  ['408', text(page, 408, html)],
  ['502', text(page, 502, html)],
  ['504', text(page, 504, html)],
];

/** Success without a word: all that some operations ever say. */
const saysYes: readonly (readonly [string, Answer])[] = [
  ['204', text('', 204)],
  ['200 with nothing', text('', 200)],
  ['200 with null', json(null)],
  ['200 with an empty object', json({})],
];

const takeYes = ['simulateOrder', 'updateUser', 'deleteUser', 'undoUserDeletion'];

describe.each(writing)('$mutation', (row) => {
  const { call, canLook } = row.asks;
  const turn = writing.indexOf(row);
  const isYesEnough = takeYes.includes(row.mutation);

  test.each(casesFor(turn, [...saysNothing, ...saysYes]))(
    'is done once, and reported as done or as unknown, where %s hides that it was done',
    async (_, answer) => {
      await using world = await openWorld(row);
      world.lab.spoil({ at: call, isDone: true, answer });
      const result = await world.call(world.variables);
      const again = await world.call(world.variables);
      const open = [expect.stringMatching(isFault), true];
      const isSettled = result.word === row.success;
      expect([result.word, result.mayHaveBeenDone]).toEqual(isSettled ? [row.success, undefined] : open);
      expect(isSettled || !canLook).toBe(true);
      expect([row.success, row.again, 'IDEMPOTENCY_UNSETTLED', result.word]).toContain(again.word);
      expect(await world.trace()).toEqual(await traceOfOne(row));
    },
  );

  test.each(casesFor(turn, isYesEnough ? saysNothing : [...saysYes, ...saysNothing]))(
    'is never reported as done where %s is the only sign of it',
    async (_, answer) => {
      await using world = await openWorld(row);
      const before = await world.trace();
      world.lab.spoil({ at: call, isDone: false, answer });
      const result = await world.call(world.variables);
      expect([result.word, result.mayHaveBeenDone]).toEqual([expect.stringMatching(isFault), true]);
      expect(await world.trace()).toEqual(before);
    },
  );

  test('is done once where its answer is lost twice', async () => {
    await using world = await openWorld(row);
    world.lab.spoil({ at: call, isDone: true, answer: reset, times: 2 });
    const results = [];
    for (let turn = 0; turn < 3; turn += 1) results.push(await world.call(world.variables));
    const truths = [row.success, row.again, 'UPSTREAM_UNAVAILABLE', 'IDEMPOTENCY_UNSETTLED'];
    expect(results.map(({ word }) => word).filter((word) => !truths.includes(word))).toEqual([]);
    expect(results.filter((each) => isFault.test(each.word) && each.mayHaveBeenDone !== true)).toEqual([]);
    expect(await world.trace()).toEqual(await traceOfOne(row));
  });

  test('is done once where it is called twice at the same time', async () => {
    await using world = await openWorld(row);
    const results = await Promise.all([world.call(world.variables), world.call(world.variables)]);
    expect(results.map(({ word }) => word).sort()).toEqual([row.success, row.again].sort());
    expect(await world.trace()).toEqual(await traceOfOne(row));
  });

  test('can be repeated after the service asked to be called less often', async () => {
    await using world = await openWorld(row);
    world.lab.spoil({ at: call, isDone: false, answer: text(page, 429) });
    const refused = await world.call(world.variables);
    const repeated = await world.call(world.variables);
    expect(refused).toMatchObject({ word: 'UPSTREAM_RATE_LIMITED', mayHaveBeenDone: false });
    expect(repeated.word).toBe(row.success);
    expect(await world.trace()).toEqual(await traceOfOne(row));
  });
});
