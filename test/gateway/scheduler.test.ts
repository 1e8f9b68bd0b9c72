import { setImmediate as nextRound } from 'node:timers/promises';
import { buildSchema, execute, type GraphQLFieldResolver, isObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { Caller } from '../../gateway/auth/rights.ts';
import { createScheduler, type SchedulerLimits, usualLimits } from '../../gateway/execution/scheduler.ts';
import { createLoaders, type Loaders } from '../../gateway/graph/context.ts';
import { meterFields, type Work } from '../../gateway/graph/cost.ts';

const [one, other]: readonly [Caller, Caller] = [
  { kind: 'TEAM', keyName: 'one' },
  { kind: 'TEAM', keyName: 'other' },
];
const staying = new AbortController().signal;
const rowsOfGroup = Array.from({ length: 10 }, (_, index) => index);

interface World {
  readonly name: string;
  readonly work: Work;
  readonly loaders: Loaders;
}

/** Operations whose groups have ten rows each, and whose fields are resolved, in their order. */
function createRunner(limits: Partial<SchedulerLimits> = {}) {
  const resolved: string[] = [];
  const batches: number[] = [];
  const batched = {
    keyOf: String,
    batch: async (_service: unknown, groups: readonly number[]) => {
      batches.push(groups.length);
      return groups.map(() => rowsOfGroup);
    },
  };
  const schema = buildSchema(`
    type Query { groups(first: Int!): [Group] }
    type Group { id: Int rows: [Row] inner: Group batched: [Row] }
    type Row { value: Int }
  `);
  const resolvers: Readonly<Record<string, GraphQLFieldResolver<number, World>>> = {
    'Query.groups': (_parent, { first }) => Array.from({ length: first }, (_, index) => index),
    'Group.id': (group) => group,
    'Group.rows': () => rowsOfGroup,
    'Group.inner': (group) => group,
    'Group.batched': (group, _args, { loaders }) => loaders.of(batched).load(group),
    'Row.value': (row, _args, { name }) => {
      resolved.push(name);
      return row;
    },
  };
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields()))
      field.resolve = resolvers[`${type.name}.${field.name}`];
  }
  meterFields(schema);
  const scheduler = createScheduler({ ...usualLimits, slice: 100, ...limits });

  const run = async (query: string, { name = 'a', caller = one, left = staying } = {}) => {
    const work = scheduler.begin(caller, left);
    const contextValue: World = { name, work, loaders: createLoaders(undefined as never, work) };
    const result = await work.run(
      async () => await execute({ schema, document: parse(query), contextValue }),
    );
    return { result, weight: work.weight };
  };
  return { run, resolved, batches };
}

const rows = (groups: number) => `{ groups(first: ${groups}) { rows { value } } }`;

/** Who had a turn, each time it changed hands. */
function turnsOf(names: readonly string[]): string {
  return names.filter((name, index) => name !== names[index - 1]).join(' ');
}

test('an operation weighs its fields, rows, long texts and errors, the same each time', async () => {
  const { run } = createRunner();
  // A list of 50, and in each a list of ten with a value each.
  const weight = 1 + 50 + 50 * (1 + 10 + 10);
  expect((await run(rows(50))).weight).toBe(weight);
  expect((await run(rows(50))).weight).toBe(weight);
});

test('a heavy operation runs in slices, and all other work runs between them', async () => {
  const { run } = createRunner();
  let [rounds, isOver] = [0, false];
  const running = run(rows(200)).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextRound();
    rounds += 1;
  }
  const { result } = await running;
  // 200 groups have 2,000 values, of which a slice resolves 100.
  expect(rounds).toBeGreaterThanOrEqual(20);
  expect(result).toEqual({
    data: { groups: Array.from({ length: 200 }, () => ({ rows: rowsOfGroup.map((value) => ({ value })) })) },
  });
});

test('heavy operations of one caller run one after the other, and those of another beside them', async () => {
  const { run, resolved } = createRunner();
  await Promise.all([run(rows(100), { name: 'a' }), run(rows(100), { name: 'b' })]);
  expect(turnsOf(resolved)).toBe('a b');

  resolved.length = 0;
  await Promise.all([
    run(rows(100), { name: 'a' }),
    run(rows(100), { name: 'b' }),
    run(rows(100), { name: 'x', caller: other }),
  ]);
  expect(turnsOf(resolved)).toMatch(/^(a x ){10,11}b$/);
});

test('a light operation does not wait for the heavy ones of its own caller', async () => {
  const { run } = createRunner();
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  await Promise.all([
    run(rows(100)).then(note('heavy')),
    run(rows(100)).then(note('heavy')),
    nextRound().then(() => run(rows(2)).then(note('light'))),
  ]);
  expect(ended).toEqual(['light', 'heavy', 'heavy']);
});

test('a heavy operation still loads its rows in one batch', async () => {
  const { run, batches } = createRunner();
  await run('{ groups(first: 90) { inner { inner { id batched { value } } } } }');
  expect(batches).toEqual([90]);
});

test('an answer with too large a weight is refused during execution', async () => {
  const { run, resolved } = createRunner({ weightOfTeam: 1000 });
  await expect(run(rows(1000))).rejects.toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  await nextRound();
  expect(resolved.length).toBeLessThan(1000);
});

test('one heavy operation too many is refused, until one has ended', async () => {
  const { run } = createRunner({ heavyOperations: 1 / 20 });
  const first = run(rows(100));
  await expect(run(rows(100))).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 2000 });
  await Promise.all([first, run(rows(100), { caller: other })]);
  expect((await run(rows(100))).result.errors).toBeUndefined();
});

test('an operation whose client has left releases its turns and its place', async () => {
  const { run, resolved } = createRunner({ heavyOperations: 1 / 20 });
  const left = new AbortController();
  const abandoned = run(rows(100), { name: 'left', left: left.signal }).catch((error: unknown) => error);
  left.abort();
  await run(rows(100), { name: 'next' });
  expect(await abandoned).toMatchObject({ code: 'ABANDONED' });
  expect(turnsOf(resolved)).toBe('next');
});
