import { isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey } from '../support/lab.ts';
import { casesFor } from '../support/runs.ts';
import { subscribeOverSse } from '../support/subscribe.ts';
import { schema } from './isolation/places.ts';
import { operationRequest } from './mutations/ask.ts';
import { team, viewers } from './scopes/askers.ts';
import { type Call, calls } from './scopes/calls.ts';
import { ask, findAllFaults, tokenOf } from './scopes/faults.ts';
import { questionsOf, typesOfQueries } from './scopes/questions.ts';
import { coordinates, needOf } from './scopes/table.ts';
import { findFaults, isRefused } from './scopes/walk.ts';
import { startWorld, type World } from './scopes/world.ts';

const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
  isObjectType(type) && !type.name.startsWith('__')
    ? Object.keys(type.getFields()).map((name) => ({
        type: type.name,
        name,
        coordinate: `${type.name}.${name}`,
      }))
    : [],
);

describe('the table of scopes', () => {
  test('has a row for every field of the schema', () => {
    const missing = fields.filter(({ coordinate }) => !coordinates.includes(coordinate));
    expect(missing.map(({ coordinate }) => `Say in scopes/table.ts what ${coordinate} needs.`)).toEqual([]);
  });

  test('has no row for anything else, and none twice', () => {
    expect(coordinates.toSorted()).toEqual(fields.map(({ coordinate }) => coordinate).toSorted());
  });
});

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('every field of every object that a query leads to is there for a gateway key', async () => {
  const shown = new Set<string>();
  for (const asked of questionsOf(world.owner)) {
    const answer = await ask(world, asked, gatewayKey);
    const onShown = (coordinate: string) => void shown.add(coordinate);
    expect(findFaults(asked, { asker: team, answer, whole: answer }, onShown)).toEqual([]);
  }
  const types = typesOfQueries();
  const hidden = fields.filter(({ type, coordinate }) => types.has(type) && !shown.has(coordinate));
  expect(hidden.map(({ coordinate }) => `Nothing in scopes/world.ts has a ${coordinate}.`)).toEqual([]);
});

test('every field is shown to viewers with the scopes that it needs, and refused to all others', async () => {
  expect(await findAllFaults(world, viewers)).toEqual([]);
});

/** The code of what comes of a call; null where it is no error. */
async function codeOf({ coordinate, query, variables }: Call, token: string): Promise<string | null> {
  if (coordinate.startsWith('Subscription.')) {
    const stream = await subscribeOverSse({ url: world.url, token, query, variables });
    const first = await stream.next();
    await stream.close();
    return first?.errors?.[0]?.extensions.code ?? null;
  }
  const request = operationRequest(world.url, { query, variables }, token);
  request.headers.set('origin', 'https://page.example');
  const answer = await (await world.gateway.fetch(request)).json();
  return answer.errors?.[0]?.extensions.code ?? null;
}

test('every mutation and subscription is refused to viewers without the scopes that it needs, and to no others', async () => {
  const tokens = await Promise.all(
    viewers.map(async (asker) => ({ asker, token: await tokenOf(world, asker) })),
  );
  const found: string[] = [];
  for (const [row, call] of calls.entries()) {
    for (const { asker, token } of casesFor(row, tokens, Math.ceil(tokens.length / 4))) {
      const code = await codeOf(call, token);
      const expected = isRefused(asker, needOf(call.coordinate));
      if ((code === 'FORBIDDEN') !== expected)
        found.push(
          `${call.coordinate} is ${code ?? 'taken'}, not ${expected ? 'FORBIDDEN' : 'taken'}, to ${asker.title}`,
        );
    }
  }
  expect(found).toEqual([]);
});
