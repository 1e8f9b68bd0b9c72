import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Connection, ConnectionArguments } from '../../../gateway/graph/pagination/connection.ts';
import {
  type NewestFirstList,
  newestFirstConnection,
} from '../../../gateway/graph/pagination/newest-first-connection.ts';
import { badCursorsOf, cursorsOf, toValues } from './lists.ts';

interface Row {
  readonly id: string;
  readonly ms: number;
  /** The service's rows have a time all the same; it cannot be read. */
  readonly isDated: boolean;
  /** Not the caller's, or unreadable. */
  readonly isHole: boolean;
}

interface ServiceOptions {
  readonly bounds: boolean;
  readonly totals: boolean;
  /** Oldest first, although the newest were asked for. */
  readonly reverses: boolean;
}

const honest: ServiceOptions = { bounds: true, totals: true, reverses: false };

/** A service with a list that changes, and what was asked of it. */
function openService(rows: readonly Row[], { bounds, totals, reverses }: ServiceOptions) {
  let current = rows.toSorted(newestFirst);
  const asked: string[] = [];
  const list: NewestFirstList<Row> = {
    idOf: ({ id }) => id,
    fetch: async ({ page, size, until }) => {
      asked.push(`${page}/${size}${until === null ? '' : ` until ${until.getTime()}`}`);
      const within = current.filter(({ ms }) => !bounds || until === null || ms <= until.getTime());
      const all = reverses ? within.toReversed() : within;
      const sent = all.slice((page - 1) * size, page * size);
      const here = sent.map((row) => (row.isHole ? null : row));
      const times = sent.map(({ ms, isDated }) => (isDated ? new Date(ms) : null));
      const total = totals && !here.includes(null) ? all.length : null;
      return { rows: here, total, pages: null, nextCursor: null, from: (page - 1) * size, times };
    },
  };
  return {
    asked,
    rows: () => current,
    read: (args: ConnectionArguments) => newestFirstConnection(args, cursorsOf(['orders']), list),
    add: (row: Row) => {
      current = [row, ...current].toSorted(newestFirst);
    },
    remove: (index: number) => {
      current = current.toSpliced(index % Math.max(1, current.length), 1);
    },
  };
}

/** The rows added last come first among equal times. */
function newestFirst(a: Row, b: Row): number {
  return b.ms - a.ms;
}

type TestService = ReturnType<typeof openService>;

/** Reads the list to its end; between two pages something happens to it. */
async function walk(service: TestService, first: number, between: (page: number) => void = () => {}) {
  const pages: Connection<Row>[] = [];
  for (let after: string | null = null; ; ) {
    const page: Connection<Row> = await service.read({ first, after });
    pages.push(page);
    if (!page.pageInfo.hasNextPage) return pages;
    if (pages.length > 500) throw new Error('The walk does not end.');
    after = page.pageInfo.endCursor;
    between(pages.length);
  }
}

const idsIn = (pages: readonly Connection<Row>[]) =>
  pages.flatMap(({ edges }) => edges.map(({ node }) => node.id));

const row = (ms: number, more: Partial<Row> = {}): Row => ({
  id: crypto.randomUUID(),
  ms,
  isDated: true,
  isHole: false,
  ...more,
});

/** Few different times, so that many are equal. */
const times = fc.integer({ min: 1000, max: 1040 });
const [oldestMs, newestMs] = [1900, 2100];
const firsts = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 7 }));
const often = (truth: boolean) => fc.integer({ min: 0, max: 9 }).map((value) => value > 0 === truth);
const rowsOf = (flags: { readonly isDated: fc.Arbitrary<boolean>; readonly isHole: fc.Arbitrary<boolean> }) =>
  fc.array(
    // No time of an unreadable one is that of another: then nothing would show which of the two was read.
    fc
      .record({ ms: times, ...flags })
      .map(({ ms, ...more }) => row(more.isDated ? ms * 2 : ms * 2 + 1, more)),
    { maxLength: 140 },
  );
const isDated = fc.constant(true);
const mixedRows = rowsOf({ isDated: often(true), isHole: often(false) });
/** Many rows of others, as of a service that does not filter by user. */
const datedRows = fc.oneof(
  rowsOf({ isDated, isHole: often(false) }),
  rowsOf({ isDated, isHole: often(true) }),
);

type Change = { readonly kind: 'head' | 'anywhere' | 'leave'; readonly at: number };
const changes = (...kinds: Change['kind'][]) =>
  fc.array(fc.array(fc.record({ kind: fc.constantFrom(...kinds), at: fc.nat(139) }), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 6,
  });

function apply(service: TestService, { kind, at }: Change): void {
  const newest = service.rows()[0]?.ms ?? 1000;
  if (kind === 'head') service.add(row(newest + (at % 2)));
  if (kind === 'anywhere') service.add(row(2 * (1000 + (at % 41))));
  if (kind === 'leave') service.remove(at);
}

/** What a walk through a changing list must have shown, and what it did show. */
async function compare(service: TestService, first: number, plan: readonly (readonly Change[])[]) {
  const atStart = service.rows();
  const pages = await walk(service, first, (page) => {
    for (const change of plan[page - 1] ?? []) apply(service, change);
  });
  const shown = idsIn(pages);
  const present = atStart.filter((each) => service.rows().includes(each) && !each.isHole).map(({ id }) => id);
  return { pages, shown, missed: present.filter((id) => !shown.includes(id)) };
}

/**
 * What a list must begin with where the service ignores the bound: the caller's row with a time. Otherwise that is not
 * recognized, and a row may come twice.
 */
const headOf = ({ bounds, reverses }: ServiceOptions) =>
  bounds ? [] : [row(reverses ? oldestMs : newestMs)];

test.each([
  ['an honest service', honest, mixedRows],
  ['one that gives no total', { ...honest, totals: false }, mixedRows],
  ['one that ignores the bound', { ...honest, bounds: false }, mixedRows],
  ['one that ignores the order as well', { ...honest, bounds: false, reverses: true }, datedRows],
])('a list of %s is walked with each row once', async (_name, options, lists) => {
  await fc.assert(
    fc.asyncProperty(lists, firsts, async (rows, first) => {
      const service = openService([...headOf(options), ...rows], options);
      const { shown, missed } = await compare(service, first, []);
      expect({ missed, repeated: shown.length - new Set(shown).size }).toEqual({ missed: [], repeated: 0 });
    }),
    { numRuns: 80 },
  );
});

describe('a list that changes while it is walked', () => {
  test.each([
    ['come and go', datedRows, changes('head', 'anywhere', 'leave')],
    ['come, also where times cannot be read', mixedRows, changes('head')],
  ])('rows %s: none is shown twice, and none that stays is missed', async (_name, lists, plans) => {
    await fc.assert(
      fc.asyncProperty(lists, firsts, plans, async (rows, first, plan) => {
        // What is read first has a time: without one there is only its place to go on from.
        const service = openService([row(newestMs), ...rows], honest);
        const { shown, missed, pages } = await compare(service, first, plan);
        expect({ missed, repeated: shown.length - new Set(shown).size }).toEqual({ missed: [], repeated: 0 });
        const ms = pages.flatMap(({ edges }) => edges.map(({ node }) => node));
        const dated = ms.filter(({ isDated }) => isDated).map((each) => each.ms);
        expect(dated).toEqual(dated.toSorted((a, b) => b - a));
      }),
      { numRuns: 300 },
    );
  });

  test('a service that ignores the bound is followed as long as rows only come to the head', async () => {
    await fc.assert(
      fc.asyncProperty(datedRows, firsts, changes('head'), async (rows, first, plan) => {
        const service = openService([row(newestMs), ...rows], { ...honest, bounds: false });
        const { shown, missed } = await compare(service, first, plan);
        expect({ missed, repeated: shown.length - new Set(shown).size }).toEqual({ missed: [], repeated: 0 });
      }),
      { numRuns: 200 },
    );
  });

  test('the count stays that of the list the walk began with', async () => {
    const service = openService(
      Array.from({ length: 45 }, (_, index) => row(index)),
      honest,
    );
    const pages = await walk(service, 10, () => service.add(row(1000)));
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([45, 45, 45, 45, 45]);
    expect(pages.map(({ edges }) => edges.length)).toEqual([10, 10, 10, 10, 5]);
  });
});

test('Reading on costs one call, and a small one more where its rows fill a page of the service', async () => {
  const service = openService(
    Array.from({ length: 250 }, (_, index) => row(index)),
    honest,
  );
  await walk(service, 100);
  expect(service.asked).toEqual(['1/100', '1/100 until 150', '101/1 until 150', '1/100 until 50']);
  const small = openService(service.rows().slice(0, 40), honest);
  await walk(small, 20);
  expect(small.asked).toEqual(['1/20', '1/21 until 230']);
});

test('Every edge leads to the row behind it', async () => {
  const service = openService(
    Array.from({ length: 30 }, (_, index) => row(Math.floor(index / 3))),
    honest,
  );
  const { edges } = await service.read({ first: 30 });
  for (const [index, { cursor }] of edges.entries()) {
    const next = await service.read({ first: 1, after: cursor });
    expect(next.edges.map(({ node }) => node.id)).toEqual(
      service
        .rows()
        .slice(index + 1, index + 2)
        .map(({ id }) => id),
    );
  }
});

test('An empty list has no cursors, and behind the last row there is an empty page', async () => {
  expect(toValues(await openService([], honest).read({}))).toEqual({
    edges: [],
    totalCount: 0,
    pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
  });
  const service = openService([row(1), row(2)], honest);
  const { pageInfo } = await service.read({});
  expect(toValues(await service.read({ after: pageInfo.endCursor }))).toEqual({
    edges: [],
    totalCount: 2,
    pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
  });
});

test.each([0, 101, -1])('first: %d is BAD_USER_INPUT', async (first) => {
  await expect(openService([], honest).read({ first })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('Any other text than a cursor of this list is BAD_CURSOR', async () => {
  const service = openService([row(1), row(2)], honest);
  const edited = badCursorsOf(
    ['orders'],
    [
      [1e18, 0, 0, 1, []],
      ['now', 0, 0, 1, []],
      [1, 0, 0, -1, []],
      [1, 0, 0, 1, [3]],
      [1, 0, 0, 1, Array(101).fill('x')],
    ],
  );
  const anything = fc.oneof(fc.string(), fc.base64String(), fc.constantFrom(...edited));
  await fc.assert(
    fc.asyncProperty(anything, async (after) => {
      await expect(service.read({ after })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
    }),
  );
});
