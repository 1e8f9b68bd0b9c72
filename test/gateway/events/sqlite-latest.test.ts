import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextRound } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AppendNotice } from '../../../gateway/events/log.ts';
import { Seal } from '../../../gateway/events/seal.ts';
import { RecentVersions } from '../../../gateway/events/sqlite/recent-versions.ts';
import { LogWriter } from '../../../gateway/events/sqlite/writer.ts';
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
  /** The same of changes alone, without claims and without what was only read ahead of its notice. */
  readonly #changed = new Map<string, number>();
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
    if (notice?.subject) this.#change(notice.subject.id, notice.subject.version);
    // After a notice that anything may be new, a reader finds everything that a command was acknowledged.
    if (notice === null) for (const [name, version] of this.#acknowledged) this.#change(name, version);
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

  #change(name: string, version: number): void {
    this.#show(name, version);
    this.#changed.set(name, Math.max(this.#changed.get(name) ?? -1, version));
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
      if (at === 'gateway') this.#change(name, version);
    });
    this.#pending.push(appended);
    if (isAwaited) await appended;
  }

  async #askLatest(name: string): Promise<void> {
    const shown = this.#shown.get(name) ?? -1;
    const changed = this.#changed.get(name) ?? -1;
    const [recent] = await logs.log.latestOf([name], new Date(Date.now() - 60_000));
    expect(recent?.version ?? -1).toBeGreaterThanOrEqual(changed);
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
      this.#change(subject.id, subject.version);
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

test('A version that the file has shown ahead of its notice stays the newest when an earlier one is notified', async () => {
  const [name, began] = [randomUUID(), new Date()];
  const versionOf = (version: number) => newMessage(randomUUID(), { subject: { id: name, version } });
  const appended = logs.log.append(versionOf(1));
  // Its group is with the writer's thread after this round.
  await nextRound();
  // The thread stores it, and this one does not learn of it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  using other = new DatabaseSync(logs.path);
  new LogWriter(other, new Seal([])).append([versionOf(4)]);

  const shown = [await logs.log.latest(name)];
  await appended;
  shown.push(await logs.log.latest(name), ...(await logs.log.latestOf([name], began)));

  expect(shown).toMatchObject([{ version: 4 }, { version: 4 }, { version: 4 }]);
});

/** A version with the first position of a millisecond. */
const versionAt = (ms: number) => ({ version: ms, position: ms * 1000, userId: 'user-1' });

test('Changes since a time are known from where the log was opened, or another process has appended', () => {
  const versions = new RecentVersions(7000);
  versions.add('order-1', versionAt(8));
  expect(versions.changedSince(new Date(7), ['order-1'])).toBeNull();
  expect(versions.changedSince(new Date(8), ['order-1', 'order-2'])).toEqual([versionAt(8), null]);
  versions.restart(12_000);
  expect(versions.changedSince(new Date(12), ['order-1'])).toBeNull();
  expect(versions.changedSince(new Date(13), ['order-1'])).toEqual([null]);
});

test('Of more than 20,000 subjects those are known that changed last, however often others were asked for', () => {
  const versions = new RecentVersions(0);
  for (let position = 1; position <= 20_000; position += 1)
    versions.add(`order-${position}`, versionAt(position));
  versions.add('order-1', versionAt(20_001));
  expect(versions.changedSince(new Date(1), ['order-2'])).toEqual([versionAt(2)]);
  versions.add('order-0', versionAt(20_002));
  expect(versions.changedSince(new Date(2), ['order-2'])).toBeNull();
  expect(versions.changedSince(new Date(3), ['order-2', 'order-1'])).toEqual([null, versionAt(20_001)]);
});
