import { describe, expect, test } from 'vitest';
import { json } from '../support/misbehaving-service.ts';
import { isInArguments, promised } from './mutations/ask.ts';
import { placesIn } from './mutations/places.ts';
import type { Row } from './mutations/row.ts';
import { rows } from './mutations/rows.ts';
import { openWorld } from './mutations/world.ts';

test('every mutation of the schema has a row, with a case for every member of its result', () => {
  const covered = rows.map((row) => [row.mutation, [row.success, ...Object.keys(row.refusals)].sort()]);
  const asked = [...promised].map(([mutation, members]) => [mutation, [...members].sort()]);
  expect(Object.fromEntries(covered)).toEqual(Object.fromEntries(asked));
  expect(rows).toHaveLength(promised.size);
});

/** The members of the result that are no success: those that are returned, and those that never are. */
function refusalsOf({ refusals }: Row) {
  return Object.entries(refusals).map(([member, refusal]) =>
    typeof refusal === 'function'
      ? { member, word: member, given: refusal, title: 'is returned, and nothing is done' }
      : {
          member,
          word: refusal.instead,
          given: refusal.given,
          title: `is never returned: ${refusal.because}`,
        },
  );
}

describe.each(rows)('$mutation', (row) => {
  test('is done once, however often it is repeated, and both answers are true', async () => {
    await using world = await openWorld(row);
    const before = await world.trace();
    const first = await world.call(world.variables);
    const done = await world.trace();
    const again = await world.call(world.variables);
    expect([first.word, again.word]).toEqual([row.success, row.again]);
    expect(await world.trace()).toEqual(done);
    expect(JSON.stringify(done) === JSON.stringify(before)).toBe(row.leavesNoTrace !== undefined);
  });

  test.each(refusalsOf(row))('$member $title', async ({ word, given }) => {
    await using world = await openWorld(row);
    const variables = await given(world);
    const before = await world.trace();
    const result = await world.call(variables);
    expect(result.word).toBe(word);
    expect(await world.trace()).toEqual(before);
    expect(result.issues.filter(({ path }) => !isInArguments(row.mutation, path))).toEqual([]);
  });
});

/** Every value that the gateway sends for this mutation. */
async function placesOf(row: Row, call: RegExp) {
  await using world = await openWorld(row);
  await world.call(world.variables);
  const sent = world.lab.sent.find((request) => call.test(request.call));
  return sent === undefined ? [] : placesIn(sent);
}

/** They send ids only, which the gateway has checked: a refusal by the service is about the thing that is named. */
const byIdOnly = ['createDocumentTicket', 'undoUserDeletion'];

const refusing = rows.flatMap((row) =>
  row.asks !== null &&
  !byIdOnly.includes(row.mutation) &&
  promised.get(row.mutation)?.includes('InputRejected')
    ? [{ row, mutation: row.mutation, call: row.asks.call }]
    : [],
);

test.each(refusing)(
  '$mutation: every value that the service refuses is named as the graph names it, and not repeated',
  async ({ row, mutation, call }) => {
    const places = await placesOf(row, call);
    const type = 'value_error';
    const detail = places.map(({ loc, value }) => ({ type, loc, msg: `No ${value}`, input: value }));
    await using world = await openWorld(row);
    world.lab.spoil({ at: call, isDone: false, answer: json({ detail }, 422) });
    const result = await world.call(world.variables);
    expect(result.word).toMatch(/Rejected$/);
    expect(places).not.toEqual([]);
    expect(result.issues.map(({ message }) => message)).toEqual(places.map(() => type));
    expect(result.issues.filter(({ path }) => !isInArguments(mutation, path))).toEqual([]);
  },
);
