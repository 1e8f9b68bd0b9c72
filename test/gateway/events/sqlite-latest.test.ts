import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AppendNotice } from '../../../gateway/events/log.ts';
import { LatestCache } from '../../../gateway/events/sqlite/latest-cache.ts';
import { newMessage } from '../../support/messages.ts';
import { type Beside, openBeside } from './beside.ts';

let logs: Beside;

beforeAll(async () => {
  logs = await openBeside();
});
afterAll(() => logs[Symbol.asyncDispose]());

const subjects = ['order-1', 'order-2'];
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      at: fc.constantFrom('gateway' as const, 'gateway' as const, 'command' as const),
      subject: fc.constantFrom(...subjects),
      version: fc.integer({ min: 1, max: 9 }),
      isAwaited: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('latest' as const), subject: fc.constantFrom(...subjects) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('claim' as const), subject: fc.constantFrom(...subjects) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Append = Extract<Step, { readonly kind: 'append' }>;

/** One run, with subjects of its own, and what anybody here has been shown of them: -1 for nothing at all. */
class Run {
  readonly #prefix = randomUUID();
  readonly #shown = new Map<string, number>();
  readonly #acknowledged = new Map<string, number>();
  readonly #pending: Promise<unknown>[] = [];
  #place: number;
  #messages = 0;

  constructor(place: number) {
    this.#place = place;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'append') await this.#append(step);
    if (step.kind === 'latest') await this.#askLatest(this.#name(step.subject));
    if (step.kind === 'read') await this.#read();
    if (step.kind === 'claim') await this.#claim(this.#name(step.subject));
    if (step.kind === 'look') logs.look();
    if (step.kind === 'turn') await new Promise(setImmediate);
  }

  /** A receiver of the notice asks at once. */
  onNotice(notice: AppendNotice | null): void {
    if (notice?.subject) this.#show(notice.subject.id, notice.subject.version);
    // After a notice that anything may be new, a reader finds everything that a command was acknowledged.
    if (notice === null) for (const [name, version] of this.#acknowledged) this.#show(name, version);
    const names = notice?.subject ? [notice.subject.id] : subjects.map((subject) => this.#name(subject));
    this.#pending.push(...names.map((name) => this.#askLatest(name)));
  }

  async end(): Promise<void> {
    await this.#settle();
    logs.look();
    await this.#settle();
    for (const [name, version] of this.#acknowledged) {
      expect(await logs.log.latest(name)).toMatchObject({ version });
    }
  }

  async #settle(): Promise<void> {
    while (this.#pending.length > 0) await Promise.all(this.#pending.splice(0));
  }

  #name(subject: string): string {
    return `${this.#prefix} ${subject}`;
  }

  #show(name: string, version: number): void {
    this.#shown.set(name, Math.max(this.#shown.get(name) ?? -1, version));
  }

  async #append({ at, subject, version, isAwaited }: Append): Promise<void> {
    const name = this.#name(subject);
    this.#messages += 1;
    const message = newMessage(`${this.#prefix} ${this.#messages}`, { subject: { id: name, version } });
    const appended = (at === 'gateway' ? logs.log : logs.command).append(message).then(() => {
      this.#acknowledged.set(name, Math.max(this.#acknowledged.get(name) ?? -1, version));
      // This instance has no notice yet of what a command was acknowledged.
      if (at === 'gateway') this.#show(name, version);
    });
    this.#pending.push(appended);
    if (isAwaited) await appended;
  }

  async #askLatest(name: string): Promise<void> {
    const shown = this.#shown.get(name) ?? -1;
    const latest = await logs.log.latest(name);
    expect(latest?.version ?? -1).toBeGreaterThanOrEqual(shown);
    this.#show(name, latest?.version ?? -1);
  }

  async #read(): Promise<void> {
    const batch = await logs.log.read({}, this.#place, 3);
    if (batch.kind === 'gap') throw new Error(batch.reason);
    this.#place = batch.through;
    for (const { subject } of batch.events) {
      if (subject === null) continue;
      this.#show(subject.id, subject.version);
      await this.#askLatest(subject.id);
    }
  }

  async #claim(name: string): Promise<void> {
    await logs.log.claim(name, { userId: 'user-1', version: 0 });
    this.#show(name, 0);
    await this.#askLatest(name);
  }
}

test('The newest version of an order is never older than what anybody has been shown of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      logs.look();
      const run = new Run(await logs.log.position());
      const stop = logs.log.onAppend((notice) => run.onNotice(notice));
      try {
        for (const each of steps) await run.take(each);
        await run.end();
      } finally {
        stop();
      }
    }),
    { numRuns: 150 },
  );
});

test('Each subject is read once, all others of a page at once, and 20,000 are cached at most', () => {
  const read: string[] = [];
  let reads = 0;
  const version = { version: 3, position: 7, userId: 'user-1' };
  const cache = new LatestCache((subjects) => {
    reads += 1;
    read.push(...subjects);
    return new Map(subjects.includes('order-5') ? [['order-5', version]] : []);
  });
  const ask = (count: number) => {
    for (let first = 0; first < count; first += 100) {
      const page = Array.from(
        { length: Math.min(100, count - first) },
        (_, index) => `order-${first + index}`,
      );
      const latest = cache.latestOf(page);
      expect(latest).toEqual(page.map((subject) => (subject === 'order-5' ? version : null)));
    }
  };
  ask(20_000);
  ask(20_000);
  expect({ read: read.length, reads }).toEqual({ read: 20_000, reads: 200 });
  cache.latestOf(['order-20000', 'order-19999']);
  cache.latestOf(['order-0']);
  expect(read.slice(20_000)).toEqual(['order-20000', 'order-0']);
});

test('A page of more subjects than are cached gets each of its versions', () => {
  const cache = new LatestCache(
    (subjects) =>
      new Map(subjects.map((subject, version) => [subject, { version, position: 1, userId: null }])),
  );
  const page = Array.from({ length: 20_500 }, (_, index) => `order-${index}`);
  expect(cache.latestOf(page).map((latest) => latest?.version)).toEqual(page.map((_, index) => index));
});
