import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../gateway/auth/rights.ts';
import { type GraphQLAnswer, gatewayKey, type Lab, readAnew, startLab } from '../support/lab.ts';
import { type ListCase, listCases, sendWearables } from '../support/list-cases.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/** Every field of the graph that takes `first`, by name. */
function fieldsWithFirst() {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) || isInterfaceType(type),
  );
  return types.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => field.args.some(({ name }) => name === 'first'))
      .map((field) => ({ name: `${type.name}.${field.name}`, returns: getNamedType(field.type).name })),
  );
}

const isConnection = ({ returns }: { readonly returns: string }) => returns.endsWith('Connection');
const namesOf = (fields: readonly { readonly name: string }[]) => fields.map(({ name }) => name).sort();

test('Every connection of the graph has its row in the table', () => {
  expect(namesOf(fieldsWithFirst().filter(isConnection))).toEqual(listCases.map(({ field }) => field).sort());
});

interface Arguments {
  readonly first?: number;
  readonly after?: string | null;
}

interface Stretch {
  readonly keys: readonly string[];
  readonly totalCount: number | null;
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** The connection of a case as a document. */
function writeList(key: string) {
  return (name: string, more = '') =>
    `list: ${name}(first: $first, after: $after ${more}) {
      totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { ${key} } } nodes { ${key} }
    }`;
}

/** Asks for a stretch: the whole answer. */
async function ask(lab: Lab, document: string, args: Arguments): Promise<GraphQLAnswer> {
  return await lab.query(`query ($first: Int, $after: String) ${document}`, { variables: { ...args } });
}

async function read(
  lab: Lab,
  { key }: ListCase,
  request: Arguments & { document: string },
): Promise<Stretch> {
  const { document, ...args } = request;
  const answer = await ask(lab, document, args);
  if (answer.errors) throw new Error(`${document}: ${JSON.stringify(answer.errors)}`);
  const list = findList(answer.data);
  const keys = list.nodes.map((node: Record<string, string>) => node[key]);
  expect(list.edges.map(({ node }: { node: Record<string, string> }) => node[key])).toEqual(keys);
  return { keys, totalCount: list.totalCount, pageInfo: list.pageInfo };
}

/** The connection in an answer, at any depth. */
function findList(value: GraphQLAnswer['data']): GraphQLAnswer['data'] {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('list' in value) return value.list;
  return Object.values(value)
    .map(findList)
    .find((list) => list !== undefined);
}

/** Reads a list to its end; something may happen between two stretches. */
async function walk(
  lab: Lab,
  listCase: ListCase,
  { first, between }: { readonly first: number; readonly between?: (stretch: number) => Promise<void> },
): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [];
  const document = listCase.ask(lab, writeList(listCase.key));
  for (let after: string | null = null; ; ) {
    const stretch: Stretch = await read(lab, listCase, { document, first, after });
    stretches.push(stretch);
    if (!stretch.pageInfo.hasNextPage) return stretches;
    if (stretches.length > 300) throw new Error('The walk does not end.');
    after = stretch.pageInfo.endCursor;
    await between?.(stretches.length);
  }
}

const keysIn = (stretches: readonly Stretch[]) => stretches.flatMap(({ keys }) => keys);

async function growTo(lab: Lab, listCase: ListCase, length: number): Promise<void> {
  const { length: missing } = await listCase.keys(lab);
  for (let count = missing; count < length; count += 1) await listCase.grow(lab);
}

describe.each(listCases)('$field', (listCase) => {
  /** For tests that only read. */
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test('has a first, a middle and a last stretch', async () => {
    const keys = await listCase.keys(lab);
    const first = Math.floor(keys.length / 3);
    const stretches = await walk(lab, listCase, { first });

    expect(keysIn(stretches)).toEqual(keys);
    expect(stretches.length).toBeGreaterThanOrEqual(3);
    expect(stretches.map(({ pageInfo }) => [pageInfo.hasPreviousPage, pageInfo.hasNextPage])).toEqual(
      stretches.map((_, index) => [index > 0, index < stretches.length - 1]),
    );
    const lengths = stretches.slice(0, -1).map((stretch) => stretch.keys.length);
    if (!listCase.mayBeShort) expect(new Set(lengths)).toEqual(new Set([first]));
  });

  test('without rows has one empty stretch', async () => {
    await using lab = await startLab();
    const document = await listCase.askEmpty(lab, writeList(listCase.key));
    const stretch = await read(lab, listCase, { document, first: 100 });
    expect(stretch).toEqual({
      keys: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('has nothing behind its last row', async () => {
    const last = (await walk(lab, listCase, { first: 100 })).at(-1);
    const document = listCase.ask(lab, writeList(listCase.key));
    const behind = await read(lab, listCase, { document, after: last?.pageInfo.endCursor ?? 'none' });
    expect(behind).toMatchObject({
      keys: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });

  test('is walked by 1 and by 100, each row once and in the order promised', async () => {
    await using lab = await startLab({ env: readAnew });
    const few = await listCase.keys(lab);
    expect(keysIn(await walk(lab, listCase, { first: 1 }))).toEqual(few);

    await growTo(lab, listCase, 205);
    const many = await listCase.keys(lab);
    const stretches = await walk(lab, listCase, { first: 100 });
    expect(keysIn(stretches)).toEqual(many);
    if (!listCase.mayBeShort) expect(stretches.map(({ keys }) => keys.length)).toEqual([100, 100, 5]);
    for (const { totalCount } of stretches) expect([null, many.length]).toContain(totalCount);
  });

  test.each([0, -1, 101])('refuses first: %d', async (first) => {
    const { errors = [] } = await ask(lab, listCase.ask(lab, writeList(listCase.key)), { first });
    expect(errors.map(({ message, extensions }) => [extensions.code, message])).toEqual([
      ['BAD_USER_INPUT', 'first must be from 1 to 100.'],
    ]);
  });

  test('refuses a cursor that is none, and one of another list', async () => {
    const document = listCase.ask(lab, writeList(listCase.key));
    const others = listCases.filter(({ list }) => list !== listCase.list);
    const cursors = ['', 'garbage', '£', Buffer.from('["x",null,0]').toString('base64url')];
    for (const other of others) {
      const stretch = await read(lab, other, { document: other.ask(lab, writeList(other.key)), first: 3 });
      cursors.push(stretch.pageInfo.endCursor ?? '');
    }
    for (const after of cursors) {
      const { errors = [] } = await ask(lab, document, { after });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_CURSOR']);
    }
  });

  test('refuses a cursor of another caller, and one that was changed', async () => {
    const document = listCase.ask(lab, writeList(listCase.key));
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    const token = await lab.tokenFor(userId, { scopes });
    const { pageInfo } = await read(lab, listCase, { document, first: 3 });
    const changed = Buffer.from(pageInfo.endCursor ?? '', 'base64url');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const given = [
      { after: pageInfo.endCursor, token },
      { after: changed.toString('base64url'), token: gatewayKey },
    ];
    for (const { after, token } of given) {
      const query = `query ($first: Int, $after: String) ${document}`;
      const { errors = [] } = await lab.query(query, { variables: { after }, token });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_CURSOR']);
    }
  });

  test('shows each row once while rows are added, and misses none that was there at the start', async () => {
    await using lab = await startLab({ env: readAnew });
    const atStart = await listCase.keys(lab);
    const stretches = await walk(lab, listCase, {
      first: Math.min(3, Math.floor(atStart.length / 3)),
      between: async (stretch) => {
        if (stretch > 5) return;
        for (let count = 0; count < 4; count += 1) await listCase.grow(lab);
      },
    });
    const shown = keysIn(stretches);
    const now = await listCase.keys(lab);
    expect(now.length).toBeGreaterThan(atStart.length);
    // What is added at the head is for the next walk; what is added at the end is still to come.
    expect(shown).toEqual(listCase.growsAt === 'head' ? atStart : now);
  });
});

test('No other list has `first`: what is no connection is given whole, or refused', () => {
  expect(namesOf(fieldsWithFirst().filter((field) => !isConnection(field)))).toEqual([]);
});

test.each([
  ['healthSamples', 'glucose', 'timestamp'],
  ['healthSummaries', 'activity', 'calendarDate'],
])('User.%s is empty at first, and begins with the newest row', async (field, resource, key) => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId;
  const ask = async () =>
    (await lab.query(`{ user(id: "${userId}") { ${field}(resource: "${resource}") { ${key} } } }`)).data.user[
      field
    ];
  expect(await ask()).toEqual([]);

  await sendWearables(lab);

  const times = (await ask()).map((row: Record<string, string>) => row[key]);
  expect(times.length).toBeGreaterThan(0);
  expect(times).toEqual(times.toSorted().toReversed());
});
