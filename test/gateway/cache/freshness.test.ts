import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import { tagsOf, touchedBy } from '../../../gateway/service/tags.ts';

const users = ['A', 'B'] as const;
const orderIds = ['x', 'y', 'z'] as const;

interface Order {
  readonly userId: string;
  readonly version: number;
}
/** Orders by id, as they were after each change of the world. */
type World = ReadonlyMap<string, Order>;
type View = ReadonlyMap<string, Order>;

const views = {
  'order x': (world: World): View => pick(world, (_, id) => id === 'x'),
  'orders of A': (world: World): View => pick(world, ({ userId }) => userId === 'A'),
  'orders of B': (world: World): View => pick(world, ({ userId }) => userId === 'B'),
  'all orders': (world: World): View => pick(world, () => true),
} as const;
type Key = keyof typeof views;
const abouts: Readonly<Record<Key, { userId: string } | null | undefined>> = {
  'order x': undefined,
  'orders of A': { userId: 'A' },
  'orders of B': { userId: 'B' },
  'all orders': null,
};

function pick(world: World, fits: (order: Order, id: string) => boolean): View {
  return new Map([...world].filter(([id, order]) => fits(order, id)));
}

function toTags(key: Key, view: View): readonly string[] | null {
  const shown = [...view].map(([orderId, { userId }]) => ({ userId, orderId }));
  return key === 'order x' && shown.length === 0 ? null : tagsOf('subject-event', shown, abouts[key]);
}

/** What may happen, in any order: events come late and out of order, answers as the service computed them long before. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      key: fc.constantFrom<Key[]>('order x', 'orders of A', 'orders of B', 'all orders'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('compute' as const, 'answer' as const, 'report' as const),
      at: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      orderId: fc.constantFrom(...orderIds),
      userId: fc.constantFrom(...users),
      by: fc.constantFrom('event' as const, 'write' as const),
    }),
  },
);

interface Call {
  readonly key: Key;
  readonly settle: PromiseWithResolvers<View>;
  /** How many changes the service had seen when it computed the answer. */
  computedAt: number | null;
  isAnswered: boolean;
}

test('no answer is older than what was invalidated before it was asked for, in any order of changes, events, writes and slow answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      const cache = new SharedCache({ ttlMs: 60_000 });
      const history: World[] = [new Map()];
      const changes: { readonly orderId: string; readonly userId: string }[] = [];
      const unreported: number[] = [];
      const invalidated = new Set<number>();
      const calls: Call[] = [];
      const checks: Promise<void>[] = [];

      const invalidate = (change: number, by: 'event' | 'write') => {
        const changed = changes[change - 1];
        if (changed === undefined) return;
        invalidated.add(change);
        cache.invalidate(touchedBy({ userId: changed.userId, subjectId: changed.orderId, by }));
      };
      const compute = (call: Call | undefined) => {
        if (call !== undefined) call.computedAt ??= history.length - 1;
      };
      const answer = (call: Call | undefined) => {
        compute(call);
        if (call === undefined) return;
        call.isAnswered = true;
        call.settle.resolve(views[call.key](history[call.computedAt ?? 0] ?? new Map()));
      };
      /** Of each order, the answer shows what was true then or later. */
      const check = (key: Key, view: View, invalidatedBefore: readonly number[]) => {
        for (const change of invalidatedBefore) {
          const { orderId } = changes[change - 1] ?? {};
          const since = history.slice(change).map((world) => views[key](world).get(orderId ?? ''));
          expect(since).toContainEqual(view.get(orderId ?? ''));
        }
      };
      for (const event of steps) {
        if (event.kind === 'ask') {
          const { key } = event;
          const invalidatedBefore = [...invalidated];
          const asked = cache.get<View>(key, {
            load: async () => {
              const call: Call = {
                key,
                settle: Promise.withResolvers(),
                computedAt: null,
                isAnswered: false,
              };
              calls.push(call);
              const view = await call.settle.promise;
              return { value: view, size: 1, tags: toTags(key, view) };
            },
          });
          checks.push(asked.then(({ value }) => check(key, value, invalidatedBefore)));
        } else if (event.kind === 'change') {
          const { orderId, userId } = event;
          const version = history.length;
          history.push(new Map(history.at(-1)).set(orderId, { userId, version }));
          changes.push({ orderId, userId });
          // A write invalidates before it is answered; events come at any time.
          if (event.by === 'write') invalidate(version, 'write');
          else unreported.push(version);
        } else if (event.kind === 'report') {
          const [change] = unreported.splice(event.at % Math.max(1, unreported.length), 1);
          if (change !== undefined) invalidate(change, 'event');
        } else {
          const open = calls.filter(({ computedAt, isAnswered }) =>
            event.kind === 'answer' ? !isAnswered : computedAt === null,
          );
          const call = open[event.at % Math.max(1, open.length)];
          if (event.kind === 'compute') compute(call);
          else answer(call);
          await nextTurn();
        }
      }
      for (const call of calls) answer(call);
      await Promise.all(checks);
    }),
    { numRuns: 400 },
  );
});
