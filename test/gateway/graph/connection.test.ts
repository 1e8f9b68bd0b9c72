import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ConnectionArguments, connectionCost } from '../../../gateway/graph/pagination/connection.ts';
import {
  offsetConnection,
  type PageRange,
  pagedConnection,
  planPages,
} from '../../../gateway/graph/pagination/paged-connection.ts';
import type { Page } from '../../../gateway/service/calls.ts';
import { badCursorsOf, cursorsOf, nodesOf, rowsOf, toValues, walk } from './lists.ts';

const page = (rows: Page<number>['rows'], more: Partial<Page<number>> = {}): Page<number> => ({
  rows,
  total: null,
  pages: null,
  nextCursor: null,
  from: null,
  ...more,
});

const identity = ['orders', { userId: 'u1' }];
const firsts = fc.integer({ min: 1, max: 100 });
const lists = fc
  .record({ count: fc.nat(130), holes: fc.array(fc.nat(130), { maxLength: 8 }) })
  .map(({ count, holes }) => ({ count, rows: rowsOf(count, holes), holes }));
const wanted = (rows: Page<number>['rows']) => rows.filter((row) => row !== null);

type Totals = (counted: {
  readonly all: number;
  readonly here: number;
  readonly size: number;
}) => Partial<Page<number>>;

/** What services say of a whole list. */
const totals: readonly (readonly [string, Totals])[] = [
  ['an honest total and pages', ({ all, size }) => ({ total: all, pages: Math.ceil(all / size) })],
  ['an honest total', ({ all }) => ({ total: all })],
  ['pages only', ({ all, size }) => ({ pages: Math.ceil(all / size) })],
  [
    'a total of the page only, and pages',
    ({ all, here, size }) => ({ total: here, pages: Math.ceil(all / size) }),
  ],
  ['nothing', () => ({})],
];

/** A list that is paged by number, of which every request is noted. */
function openPages(rows: Page<number>['rows'], count: Totals) {
  const requests: PageRange[] = [];
  const read = (args: ConnectionArguments, list: readonly unknown[] = identity) =>
    pagedConnection(args, cursorsOf(list), async (request) => {
      requests.push(request);
      const here = rows.slice((request.page - 1) * request.size, request.page * request.size);
      return page(here, count({ all: rows.length, here: here.length, size: request.size }));
    });
  return { read, requests };
}

describe('a service that does not page', () => {
  const everything = rowsOf(45);
  const wholeList = (more: Partial<Page<number>>) => async () => page(everything, more);

  test.each([
    ['says where its rows begin', { from: 0, total: 45 }],
    ['says nothing but sends more than was asked for', {}],
  ])('and %s is walked once from end to end', async (_name, more) => {
    // A page exactly as large as the list cannot be distinguished from one that was asked for, so 44 is not among them.
    for (const first of [1, 7, 20]) {
      const byOffset = await walk(first, (args) =>
        offsetConnection(args, cursorsOf(identity), wholeList(more)),
      );
      const byPage = await walk(first, (args) => pagedConnection(args, cursorsOf(identity), wholeList(more)));
      expect(nodesOf(byOffset)).toEqual(everything);
      expect(nodesOf(byPage)).toEqual(everything);
    }
  });

  test('and promises more than it has ends where its rows end', async () => {
    const empty = async () => page([], { total: 30 });
    const { pageInfo } = await offsetConnection({ first: 10 }, cursorsOf(identity), empty);
    expect(pageInfo).toMatchObject({ hasNextPage: false, endCursor: null });
  });
});

describe('planPages', () => {
  test('covers exactly the requested rows with at most two neighbouring pages of 1 to 100 rows', () => {
    fc.assert(
      fc.property(fc.nat(100_000), firsts, (start, count) => {
        const { size, firstPage, lastPage } = planPages(start, count);
        const skip = start - (firstPage - 1) * size;
        const pageCount = lastPage - firstPage + 1;
        expect(size).toBeGreaterThanOrEqual(1);
        expect(size).toBeLessThanOrEqual(100);
        expect([1, 2]).toContain(pageCount);
        expect(skip).toBeGreaterThanOrEqual(0);
        expect(skip + count).toBeLessThanOrEqual(size * pageCount);
        expect(size * pageCount).toBeLessThanOrEqual(Math.max(2 * count, 1));
      }),
    );
  });

  test.each([
    [0, 20, { size: 20, firstPage: 1, lastPage: 1 }],
    [20, 20, { size: 20, firstPage: 2, lastPage: 2 }],
    [30, 60, { size: 90, firstPage: 1, lastPage: 1 }],
    [50, 100, { size: 100, firstPage: 1, lastPage: 2 }],
  ])('of %i and %i', (start, count, plan) => {
    expect(planPages(start, count)).toEqual(plan);
  });
});

describe.each(totals)('a list in numbered pages whose service says %s', (name, count) => {
  test('is walked with each row once, for any `first`', async () => {
    await fc.assert(
      fc.asyncProperty(lists, firsts, async ({ rows }, first) => {
        const { read, requests } = openPages(rows, count);
        const pages = await walk(first, (args) => read(args));
        expect(nodesOf(pages)).toEqual(wanted(rows));
        expect(requests.every(({ size }) => size >= 1 && size <= 100)).toBe(true);
        expect(pages.map(({ pageInfo }) => pageInfo.hasPreviousPage)).toEqual(
          pages.map((_, index) => index > 0),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('ends where it ends, and asks for an empty page only where nobody says so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(130), firsts, async (all, first) => {
        const { read } = openPages(rowsOf(all), count);
        const pages = await walk(first, (args) => read(args));
        const needed = Math.max(1, Math.ceil(all / first));
        expect([needed, ...(name === 'nothing' ? [needed + 1] : [])]).toContain(pages.length);
      }),
      { numRuns: 60 },
    );
  });

  test('is never counted wrongly', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(130), firsts, async (all, first) => {
        const { read } = openPages(rowsOf(all), count);
        for (const { totalCount } of await walk(first, (args) => read(args))) {
          if (totalCount !== null || name.includes('honest')) expect(totalCount).toBe(all);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('may change `first` from page to page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(firsts, { minLength: 3, maxLength: 3 }),
        async ([one = 1, two = 1, three = 1]) => {
          const { read } = openPages(rowsOf(400), count);
          const a = await read({ first: one });
          const b = await read({ first: two, after: a.pageInfo.endCursor });
          const c = await read({ first: three, after: b.pageInfo.endCursor });
          expect(nodesOf([a, b, c])).toEqual(rowsOf(one + two + three));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a list in numbered pages', () => {
  test("counts no rows that are not the caller's", async () => {
    const rows = rowsOf(5, [1, 3]);
    // As the owner check leaves it: holes, and no total.
    const { read } = openPages(rows, ({ all, size }) => ({ total: null, pages: Math.ceil(all / size) }));
    expect(await read({ first: 20 })).toMatchObject({ totalCount: null, pageInfo: { hasNextPage: false } });
  });

  test('counts nothing either when they are on the first of two pages that are read', async () => {
    const rows = rowsOf(150, [60]);
    const { read } = openPages(rows, () => ({}));
    const { pageInfo } = await read({ first: 50 });
    const [start, count] = [50, 100];
    expect(planPages(start, count)).toMatchObject({ firstPage: 1, lastPage: 2 });
    const fetch = async ({ page: number, size }: PageRange) => {
      const here = rows.slice((number - 1) * size, number * size);
      return page(here, { total: here.includes(null) ? null : 150, pages: Math.ceil(150 / size) });
    };
    const shown = await pagedConnection(
      { first: count, after: pageInfo.endCursor },
      cursorsOf(identity),
      fetch,
    );
    expect(nodesOf([shown])).toEqual(wanted(rows.slice(start, start + count)));
    expect(shown.totalCount).toBeNull();
  });

  test('ends at a page that the service does not know, without a wrong count', async () => {
    const unknown = page([], { total: 0, pages: 0 });
    const known = page(rowsOf(100), { total: 100, pages: 1 });
    const fetch = async (request: PageRange) => (request.page === 1 ? known : unknown);
    const first = await pagedConnection({ first: 50 }, cursorsOf(identity), async () =>
      page(rowsOf(50), { pages: 2 }),
    );
    const second = await pagedConnection(
      { first: 100, after: first.pageInfo.endCursor },
      cursorsOf(identity),
      fetch,
    );
    expect(nodesOf([second])).toEqual(rowsOf(100).slice(50));
    expect(second).toMatchObject({ totalCount: null, pageInfo: { hasNextPage: false } });
  });

  test('gives edges whose cursors each lead to the next row', async () => {
    const { read } = openPages(rowsOf(30), () => ({}));
    const { edges } = await read({ first: 30 });
    for (const { cursor, node } of edges.slice(0, -1)) {
      expect(nodesOf([await read({ first: 1, after: cursor })])).toEqual([node + 1]);
    }
  });

  test.each([
    ['total and pages', { total: 0, pages: 0 }],
    ['total alone, which may be that of the page', { total: null }],
  ])('that is empty has a count and no cursors (%s)', async (_name, extent) => {
    const { read } = openPages([], () => extent);
    expect(toValues(await read({}))).toEqual({
      edges: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('reads on behind a page of nothing but holes', async () => {
    const { read } = openPages(rowsOf(6, [0, 1, 2]), () => ({}));
    const holes = await read({ first: 3 });
    expect(holes).toMatchObject({ edges: [], pageInfo: { hasNextPage: true, startCursor: null } });
    expect(nodesOf([await read({ first: 3, after: holes.pageInfo.endCursor })])).toEqual([3, 4, 5]);
  });
});

/** A list that is paged by offset. */
function openOffsets(rows: Page<number>['rows'], count: (all: number) => Partial<Page<number>>, most = 500) {
  return (args: ConnectionArguments, list: readonly unknown[] = identity) =>
    offsetConnection(args, cursorsOf(list), async ({ offset, limit }) =>
      page(rows.slice(offset, offset + Math.max(limit, most === 500 ? 0 : most)), count(rows.length)),
    );
}

describe('a list by offset', () => {
  test.each<readonly [string, (all: number) => Partial<Page<number>>, number]>([
    ['with an honest total', (all) => ({ total: all }), 500],
    ['without a total', () => ({}), 500],
    ['with a total that is less than its rows', () => ({ total: 0 }), 500],
    ['that gives more rows than it is asked for', (all) => ({ total: all }), 70],
  ])('%s is walked with each row once', async (_name, count, most) => {
    await fc.assert(
      fc.asyncProperty(lists, firsts, async ({ rows }, first) => {
        const read = openOffsets(rows, count, most);
        expect(nodesOf(await walk(first, (args) => read(args)))).toEqual(wanted(rows));
      }),
      { numRuns: 60 },
    );
  });

  test('says whether it goes on, exactly where it ends', async () => {
    const read = openOffsets(rowsOf(40), (all) => ({ total: all }));
    const first = await read({ first: 20 });
    const second = await read({ first: 20, after: first.pageInfo.endCursor });
    expect([first, second].map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, false]);
    expect([first, second].map(({ totalCount }) => totalCount)).toEqual([40, 40]);
  });
});

describe.each([
  ['numbered pages', openPages(rowsOf(50), () => ({})).read],
  ['offset', openOffsets(rowsOf(50), () => ({}))],
])('the arguments of a list by %s', (_name, read) => {
  test.each([0, 101, -1, 2 ** 31 - 1, Number.NaN])('first: %d is BAD_USER_INPUT', async (first) => {
    await expect(read({ first })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'first must be from 1 to 100.',
    });
  });

  test.each([undefined, null])('first: %s is 20', async (first) => {
    expect((await read({ first })).edges).toHaveLength(20);
  });

  test('a cursor of another list or filter is BAD_CURSOR', async () => {
    const { pageInfo } = await read({ first: 1 }, ['orders', { userId: 'u2' }]);
    await expect(read({ after: pageInfo.endCursor })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  });

  test('any other text is BAD_CURSOR', async () => {
    const edited = badCursorsOf(identity, [-1, 1.5, '1', 1e9]);
    const anything = fc.oneof(fc.string(), fc.base64String(), fc.constantFrom(...edited));
    await fc.assert(
      fc.asyncProperty(anything, async (after) => {
        await expect(read({ after })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
      }),
    );
  });
});

test.each([
  [{}, 20],
  [{ first: 7 }, 7],
  [{ first: -5 }, 1],
  [{ first: 1e9 }, 100],
])('The cost of %o is that of %i rows', (args, multiplier) => {
  expect(connectionCost(args)).toEqual({ field: 100, multiplier });
});
