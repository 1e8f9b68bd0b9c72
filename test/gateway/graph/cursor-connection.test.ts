import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { number, pageReader, present } from '../../../gateway/domain/parse.ts';
import type { ConnectionArguments } from '../../../gateway/graph/pagination/connection.ts';
import { cursorConnection } from '../../../gateway/graph/pagination/paged-connection.ts';
import type { Page } from '../../../gateway/service/calls.ts';
import { badCursorsOf, cursorsOf, nodesOf, rowsOf, toValues, walk } from './lists.ts';

interface ListOptions {
  /** The most rows the service gives at once, even when more are asked for. */
  readonly most?: number;
  /** Whether the service names a next page that turns out to be empty. */
  readonly endsEmpty?: boolean;
  /** Whether there is an empty page behind each page with rows. */
  readonly pauses?: boolean;
}

/** A list that is paged by a cursor which the service gives at the end of each page only. */
function openList(
  rows: Page<number>['rows'],
  { most = 100, endsEmpty = false, pauses = false }: ListOptions = {},
) {
  const limits: number[] = [];
  const read = (args: ConnectionArguments, identity: readonly unknown[] = ['labTests', null]) =>
    cursorConnection(args, cursorsOf(identity), async ({ cursor, limit }) => {
      limits.push(limit);
      if (cursor?.startsWith('p'))
        return { rows: [], total: null, pages: null, nextCursor: `c${cursor.slice(1)}`, from: null };
      const start = cursor === null ? 0 : Number(cursor.slice(1));
      const here = rows.slice(start, start + Math.min(limit, most));
      const end = start + here.length;
      const goesOn = end < rows.length || (endsEmpty && here.length > 0);
      return {
        rows: here,
        total: null,
        pages: null,
        nextCursor: goesOn ? `${pauses ? 'p' : 'c'}${end}` : null,
        from: null,
      };
    });
  return { read, limits };
}

const lists = fc
  .record({ count: fc.nat(130), holes: fc.array(fc.nat(130), { maxLength: 8 }) })
  .map(({ count, holes }) => rowsOf(count, holes));
const firsts = fc.integer({ min: 1, max: 100 });

test('A list is walked with each row once, for any `first` and any page size of the service', async () => {
  const services = fc.record({
    most: fc.integer({ min: 1, max: 100 }),
    endsEmpty: fc.boolean(),
    pauses: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(lists, firsts, services, async (rows, first, service) => {
      const { read, limits } = openList(rows, service);
      expect(nodesOf(await walk(first, (args) => read(args)))).toEqual(rows.filter((row) => row !== null));
      expect(limits.every((limit) => limit >= 1 && limit <= 100)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test('Every edge of a page leads to the row behind it', async () => {
  const { read } = openList(rowsOf(130));
  const { edges } = await read({ first: 100 });
  for (const { cursor, node } of edges) {
    expect(nodesOf([await read({ first: 2, after: cursor })])).toContain(node + 1);
  }
});

test('A list that comes whole, however many rows are asked for, is walked to its end', async () => {
  const rows = rowsOf(250);
  const page = { rows, total: null, pages: null, nextCursor: null, from: null };
  const read = (args: ConnectionArguments) =>
    cursorConnection(args, cursorsOf(['webhooks']), async () => page);
  expect(nodesOf(await walk(60, read))).toEqual(rows);
});

test.each([
  ['no cursor', null],
  ['an empty cursor', ''],
  ['the cursor that was sent', 'b'],
])('A list ends with the page that gives %s', async (_, last) => {
  const readPage = pageReader('rows', (row) => present(number(row)));
  const read = (args: ConnectionArguments) =>
    cursorConnection(args, cursorsOf(['webhooks']), async ({ cursor }) =>
      readPage(cursor === null ? { rows: [0, 1], next_cursor: 'b' } : { rows: [2, 3], next_cursor: last }),
    );
  expect(nodesOf(await walk(2, read))).toEqual([0, 1, 2, 3]);
  expect(nodesOf(await walk(1, read))).toEqual([0, 1, 2, 3]);
});

test('A page says its position, and the count only when it is the whole list', async () => {
  const { read } = openList(rowsOf(5));
  const whole = await read({ first: 5 });
  expect(whole).toMatchObject({
    totalCount: 5,
    pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: whole.edges[0]?.cursor },
  });
  const part = await read({ first: 3 });
  expect(part).toMatchObject({ totalCount: null, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
  const rest = await read({ first: 3, after: part.pageInfo.endCursor });
  expect(rest).toMatchObject({ totalCount: null, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
});

test('An empty list has no cursors', async () => {
  expect(toValues(await openList([]).read({}))).toEqual({
    edges: [],
    totalCount: 0,
    pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
  });
});

describe('the arguments', () => {
  const { read } = openList(rowsOf(50));

  test.each([0, 101, -1])('first: %d is BAD_USER_INPUT', async (first) => {
    await expect(read({ first })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('a cursor of another list or filter is BAD_CURSOR', async () => {
    const { pageInfo } = await read({ first: 1 }, ['labTests', 'blood']);
    await expect(read({ after: pageInfo.endCursor })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  });

  test('any other text is BAD_CURSOR', async () => {
    const places = [[null, -1], [null, 1.5], [5, 0], [null]];
    const edited = badCursorsOf(['labTests', null], places);
    const anything = fc.oneof(fc.string(), fc.base64String(), fc.constantFrom(...edited));
    await fc.assert(
      fc.asyncProperty(anything, async (after) => {
        await expect(read({ after })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
      }),
    );
  });
});
