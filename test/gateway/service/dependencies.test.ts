import { expect, test } from 'vitest';
import { Rights } from '../../../gateway/auth/rights.ts';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import { NotedContext, noteVersions } from '../../../gateway/composition/contexts.ts';
import type { Versions } from '../../../gateway/events/log.ts';
import type { GraphContext } from '../../../gateway/graph/context.ts';
import { bindService, type Service } from '../../../gateway/service/service.ts';
import { Dependencies, OperationCalls } from '../../../gateway/service/trace.ts';
import { json, openUpstream } from '../../support/misbehaving-service.ts';

const cached = { tags: ['user u', 'subject a3f2'], expiresAt: 1000 };

/** A query that read one cached answer, and did this as well. */
function dependenciesOf(more: (dependencies: Dependencies) => void = () => {}): Dependencies {
  const dependencies = new Dependencies(() => {});
  dependencies.isQuery = true;
  dependencies.beginRead();
  dependencies.endRead(cached);
  more(dependencies);
  return dependencies;
}

test('a query depends on all that its reads depend on, and expires with the first of them', () => {
  const { tags, expiresAt } = dependenciesOf((dependencies) => {
    dependencies.beginRead();
    dependencies.endRead({ tags: ['user u', 'user v'], expiresAt: 900 });
  });
  expect({ tags, expiresAt }).toEqual({ tags: ['user u', 'subject a3f2', 'user v'], expiresAt: 900 });
});

test.each<readonly [string, (dependencies: Dependencies) => void]>([
  [
    'reads what is not stored',
    (dependencies) => {
      dependencies.beginRead();
      dependencies.endRead({ tags: null, expiresAt: 1000 });
    },
  ],
  ['has a read that failed or is under way', (dependencies) => dependencies.beginRead()],
  ['has an error in its answer', (dependencies) => dependencies.forbidStoring()],
  ['does anything else', (dependencies) => dependencies.isolate()],
])('one that %s is not to be stored', (_name, more) => {
  expect(dependenciesOf(more).tags).toBeNull();
});

test('what is no query is not to be stored', () => {
  expect(new Dependencies(() => {}).tags).toBeNull();
});

test('what was reported is reported again once, however often the operation said it', () => {
  const reported: string[] = [];
  const { reports } = dependenciesOf((one) => {
    for (const key of ['a', 'b', 'a']) one.addReport(key, () => reported.push(key));
  });
  for (const report of reports.values()) report(0, { kind: 'TEAM' });
  expect(reported).toEqual(['a', 'b']);
});

test('the newest version of an order in the log is noted with the tag that its events invalidate, and for as long as its event counts', async () => {
  const event = { receivedAt: new Date() };
  const latest = { version: 2, position: 7, userId: null };
  // Only what is looked at.
  const versions = { changedOf: async () => [latest], readLatest: async () => event } as unknown as Versions;
  const dependencies = new Dependencies(() => {});
  dependencies.isQuery = true;
  const noted = noteVersions(versions, dependencies);
  expect(await noted.changedOf(['A3F2'], 300_000)).toEqual([latest]);
  expect([dependencies.tags, dependencies.expiresAt]).toEqual([['subject a3f2'], Number.POSITIVE_INFINITY]);
  expect(await noted.readLatest('a3f2', latest, 60_000)).toBe(event);
  const remainingMs = dependencies.expiresAt - performance.now();
  expect(remainingMs).toBeLessThanOrEqual(60_000);
  expect(remainingMs).toBeGreaterThan(30_000);
});

test('a look into the log that fails makes the answer one that is not to be stored', async () => {
  const fail = () => Promise.reject(new Error('away'));
  const dependencies = new Dependencies(() => {});
  dependencies.isQuery = true;
  const noted = noteVersions({ changedOf: fail, readLatest: fail }, dependencies);
  await expect(noted.changedOf(['a3f2'], 300_000)).rejects.toThrow('away');
  expect(dependencies.tags).toBeNull();
});

test.each(['events', 'idempotency', 'documentTickets', 'launchTickets', 'teamId', 'onResync'] as const)(
  'each use of %s isolates the answer',
  (name) => {
    const uses: string[] = [];
    // Only what is looked at.
    const context = { [name]: name } as unknown as GraphContext;
    const noted = new NotedContext(context, new Dependencies(() => uses.push('isolated')));
    expect(uses).toEqual([]);
    expect([noted[name], uses]).toEqual([name, ['isolated']]);
  },
);

const about = { userId: 'u' };
const ofUser = { path: '/thing', scope: null, about } as const;
const one = { ...ofUser, reader: () => about, owner: () => about } as const;
const read = { ...one, operation: 'thing.get', method: 'GET' } as const;

test.each<readonly [string, boolean, (service: Service) => Promise<unknown>]>([
  ['a read', false, (service) => service.readOne(read)],
  ['a read that is good for one', true, (service) => service.readOne({ ...read, isSingleUse: true })],
  ['a write', true, (service) => service.write({ ...one, operation: 'thing.set', method: 'POST' })],
  [
    'a file',
    true,
    (service) =>
      service.readFile({ ...ofUser, operation: 'thing.file', method: 'GET', accept: 'application/json' }),
  ],
])('whether %s isolates the answer of its operation: %s', async (_name, isIsolated, ask) => {
  await using open = await openUpstream([json({})], { cache: new SharedCache({ ttlMs: 0 }) });
  let hasIsolated = false;
  const dependencies = new Dependencies(() => {
    hasIsolated = true;
  });
  const calls = new OperationCalls(dependencies);
  await ask(bindService(open.upstream, { rights: new Rights({ kind: 'TEAM' }), calls }));
  expect([hasIsolated, calls.totals().calls]).toEqual([isIsolated, 1]);
});
