import type { Log } from '../log.ts';
import { parseInstant } from '../parse/dates.ts';
import type { AppendNotice, EventLog, NewMessage } from './log.ts';

/** A thing of the service as it is now, with the message that its newest webhook would have had. */
export interface Found {
  /** When it changed last; null when the service does not say. */
  readonly changedAt: Date | null;
  readonly message: Pick<NewMessage, 'type' | 'userId' | 'clientUserId' | 'teamId' | 'body'> & {
    readonly subject: { readonly id: string; readonly version: number };
  };
}

export interface ReconcilerOptions {
  readonly events: EventLog;
  /** Everything that changed since then, in any order; may name a thing more than once. */
  readonly changedSince: (since: Date) => AsyncIterable<Found>;
  readonly log: Log;
  /** Called with the number of messages that were appended because their webhook never came. */
  readonly onReconciled?: (count: number) => void;
  readonly timing: ReconcileTiming;
}

/** In milliseconds. */
export interface ReconcileTiming {
  /** From one comparison to the next; 0 = never compare. */
  readonly everyMs: number;
  /** A comparison is due after this time without a webhook. */
  readonly silenceMs: number;
  /** Younger changes are skipped: their webhook is probably on its way. */
  readonly graceMs: number;
  /** How often the reconciler checks whether a comparison is due. */
  readonly lookMs: number;
}

/**
 * Finds changes whose webhook was lost: the sender stops retrying after 27.6 hours, or disables the endpoint. Several
 * gateways over one log may compare at once: they append the same message, which the log stores once.
 */
export interface Reconciler {
  /** Asks for a comparison soon: after a gap of any kind. */
  readonly request: (reason: ReconcileReason) => void;
  /** Compares now. Rejects when the service or the log fails; the next comparison then covers the same time. */
  readonly run: (reason: ReconcileReason) => Promise<void>;
  readonly stop: () => void;
}

export type ReconcileReason = 'start' | 'gap' | 'silence' | 'period' | 'young' | 'retry';

/**
 * The newest change of the last comparison, by the service's clock: the log has every change before it. Not the time of the
 * comparison, because the service's clock may be behind ours by more than any overlap.
 */
const markName = 'reconciled-until';
/** How far before that a comparison begins, because lists lag and changes come in any order. */
const overlapMs = 600_000;
/** How far back the very first comparison begins. */
const baselineMs = 86_400_000;
/** The pause after a failed comparison. */
const retryMs = 30_000;

/**
 * Compares the service with the log at the start, after gaps, in silence and periodically, and appends missing changes as
 * `reconciled`, one message per thing at its newest version. The very first comparison of a log is a baseline and appends
 * nothing.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  if (options.timing.everyMs === 0) return { request: () => {}, run: async () => {}, stop: () => {} };
  return new RunningReconciler(options);
}

class RunningReconciler implements Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #clock: DueClock;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #running: Promise<void> | null = null;
  #isFailing = false;
  #isStopped = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#clock = new DueClock(options.timing);
    this.#stopListening = options.events.onAppend((notice) => this.#clock.noteAppend(notice));
    this.request('start');
    this.#timer = setInterval(() => this.#check(), options.timing.lookMs).unref();
  }

  request(reason: ReconcileReason): void {
    this.#clock.request(reason, this.#options.timing.graceMs);
  }

  run(reason: ReconcileReason): Promise<void> {
    this.#running ??= this.#compare(reason).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#stopListening();
  }

  async #compare(reason: ReconcileReason): Promise<void> {
    this.#clock.noteRun();
    const { isBaseline, appended, tooYoung } = await compare(this.#options);
    if (tooYoung > 0) this.request('young');
    if (appended > 0) this.#options.onReconciled?.(appended);
    if (appended > 0 || isBaseline) {
      this.#options.log.info('events.reconciled', {
        reason: isBaseline ? 'baseline' : reason,
        count: appended,
      });
    }
    this.#isFailing = false;
  }

  #check(): void {
    const reason = this.#clock.due();
    if (reason === null || this.#running !== null) return;
    this.run(reason).catch((error: unknown) => {
      this.#clock.request('retry', retryMs);
      // Logged once per outage: the service may be away for hours.
      if (!this.#isFailing && !this.#isStopped) {
        this.#options.log.warn('events.reconcile_failed', { reason, error });
      }
      this.#isFailing = true;
    });
  }
}

interface Outcome {
  readonly isBaseline: boolean;
  readonly appended: number;
  /** Changes that were skipped because their webhook is probably on its way. */
  readonly tooYoung: number;
}

async function compare({ events, changedSince, timing }: ReconcilerOptions): Promise<Outcome> {
  const startedAt = new Date();
  const mark = await events.readMark(markName);
  const compared = mark === null ? null : parseInstant(mark);
  const isBaseline = compared === null;
  let [appended, tooYoung, newest] = [0, 0, 0];
  const from = compared === null ? startedAt.getTime() - baselineMs : compared.getTime();
  const since = new Date(from - overlapMs);
  for await (const { changedAt, message } of changedSince(since)) {
    newest = Math.max(newest, changedAt?.getTime() ?? 0);
    if (isYoung(changedAt, startedAt, timing.graceMs)) tooYoung += 1;
    else if (isBaseline) {
      await events.claim(message.subject.id, { userId: message.userId, version: message.subject.version });
    } else appended += await appendIfMissing(events, message);
  }
  const until = newest === 0 ? from : Math.min(startedAt.getTime(), newest);
  await events.writeMark(markName, new Date(until).toISOString());
  return { isBaseline, appended, tooYoung };
}

/**
 * A change in the future is not young: the service's clock is ahead, and the change could stay in the future for long.
 */
function isYoung(changedAt: Date | null, now: Date, graceMs: number): boolean {
  const ageMs = changedAt === null ? Number.POSITIVE_INFINITY : now.getTime() - changedAt.getTime();
  return ageMs >= 0 && ageMs < graceMs;
}

/** @returns the number of appended messages: 0 when the log has it, or another gateway was faster */
async function appendIfMissing(events: EventLog, message: Found['message']): Promise<number> {
  const { id, version } = message.subject;
  const latest = await events.latest(id);
  const hasMoved = version === latest?.version && message.userId !== latest.userId;
  if (latest !== null && version <= latest.version && !hasMoved) return 0;
  const { duplicate } = await events.append({
    ...message,
    // The id contains the corrected position: equal for all gateways, and different when a thing moves back and forth.
    messageId: `reconciled:${id}:${version}:${latest?.position ?? 0}`,
    receivedAt: new Date(),
    origin: 'reconciled',
    deadReason: null,
  });
  return duplicate ? 0 : 1;
}

/** Decides when the next comparison is due, and why. */
class DueClock {
  readonly #timing: ReconcileTiming;
  #lastRunAt = performance.now();
  #lastAppendAt = performance.now();
  #checkedAt = performance.now();
  #requested: { readonly reason: ReconcileReason; readonly at: number } | null = null;

  constructor(timing: ReconcileTiming) {
    this.#timing = timing;
  }

  request(reason: ReconcileReason, inMs: number): void {
    const at = performance.now() + inMs;
    if (this.#requested === null || at < this.#requested.at) this.#requested = { reason, at };
  }

  noteAppend(notice: AppendNotice | null): void {
    this.#lastAppendAt = performance.now();
    if (notice === null) this.request('gap', this.#timing.graceMs);
  }

  noteRun(): void {
    this.#lastRunAt = performance.now();
    this.#requested = null;
  }

  due(): ReconcileReason | null {
    const { everyMs, silenceMs, lookMs } = this.#timing;
    const now = performance.now();
    // The process was stopped (SIGSTOP, a sleeping machine). The sender may have stopped retrying meanwhile.
    if (now - this.#checkedAt > lookMs * 6) this.request('gap', 0);
    this.#checkedAt = now;
    if (this.#requested !== null && this.#requested.at <= performance.now()) return this.#requested.reason;
    if (now - this.#lastRunAt >= everyMs) return 'period';
    return now - Math.max(this.#lastRunAt, this.#lastAppendAt) >= silenceMs ? 'silence' : null;
  }
}
