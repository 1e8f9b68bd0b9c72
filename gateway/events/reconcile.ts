import type { Log } from '../log.ts';
import { parseInstant } from '../parse/dates.ts';
import type { AppendNotice, EventLog, NewMessage } from './log.ts';

/** A thing of the service as it is now: what its newest message would have said. */
export interface Found {
  /** When it changed last, null when the service does not say. */
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
  /** Told how many messages were appended because their webhook never came. */
  readonly onReconciled?: (count: number) => void;
  readonly timing: ReconcileTiming;
}

/** In milliseconds. */
export interface ReconcileTiming {
  /** From one comparison to the next; 0 = never compare. */
  readonly everyMs: number;
  /** How long no webhook may come before it is compared out of turn. */
  readonly silenceMs: number;
  /** How young a change may be that is left to its own webhook, which is probably on its way. */
  readonly graceMs: number;
  /** How often it is looked whether a comparison is due. */
  readonly lookMs: number;
}

/** Finds what the service did not tell: a webhook is lost after 27.6 hours of trying, or with its endpoint. */
export interface Reconciler {
  /** Asks for a comparison soon: after a gap of any kind. */
  readonly request: (reason: ReconcileReason) => void;
  /** Compares now. Rejects when the service or the log fails; nothing is skipped then. */
  readonly run: (reason: ReconcileReason) => Promise<void>;
  readonly stop: () => void;
}

export type ReconcileReason = 'start' | 'gap' | 'silence' | 'period' | 'young' | 'retry';

/**
 * The newest change that a comparison was shown, by the service's clock: what changed before it is in the log. Not
 * the time of the comparison, because the service's clock may be behind ours by more than any overlap.
 */
const markName = 'reconciled-until';
/** How far a comparison looks back behind that: lists lag, and changes come in any order. */
const overlapMs = 600_000;
/** How far the very first comparison looks back for a change to begin from. */
const baselineMs = 86_400_000;
/** After a failed comparison. */
const retryMs = 30_000;

/**
 * Compares the service with the log at the start, after gaps, in silence and on a period, and appends what is
 * missing as `reconciled`, one message per thing at its newest version. The very first comparison of a log takes
 * a baseline and appends nothing. Several gateways over one log may compare at once: what they append is the
 * same message, and kept once.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const { events, log, timing } = options;
  if (timing.everyMs === 0) return { request: () => {}, run: async () => {}, stop: () => {} };
  const clock = createDueClock(timing);
  const stopHearing = events.onAppend(clock.noteNews);
  let running: Promise<void> | null = null;
  let [isFailing, isStopped] = [false, false];

  const run = (reason: ReconcileReason): Promise<void> => {
    running ??= (async () => {
      clock.noteRun();
      const outcome = await compare(options);
      if (outcome.tooYoung > 0) clock.request('young', timing.graceMs);
      if (outcome.appended > 0) options.onReconciled?.(outcome.appended);
      if (outcome.appended > 0 || outcome.isBaseline) {
        log.info('events.reconciled', {
          reason: outcome.isBaseline ? 'baseline' : reason,
          count: outcome.appended,
        });
      }
      isFailing = false;
    })().finally(() => {
      running = null;
    });
    return running;
  };
  const look = () => {
    const reason = clock.due();
    if (reason === null || running !== null) return;
    run(reason).catch((error: unknown) => {
      clock.request('retry', retryMs);
      // Once per outage: the service may be away for hours.
      if (!isFailing && !isStopped) log.warn('events.reconcile_failed', { reason, error });
      isFailing = true;
    });
  };

  clock.request('start', timing.graceMs);
  const timer = setInterval(look, timing.lookMs).unref();
  return {
    request: (reason) => clock.request(reason, timing.graceMs),
    run,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      stopHearing();
    },
  };
}

interface Outcome {
  readonly isBaseline: boolean;
  readonly appended: number;
  /** Changes that were left to their webhooks. */
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

/** A change of the future is no young one: the service's clock is ahead, and it would never grow old. */
function isYoung(changedAt: Date | null, now: Date, graceMs: number): boolean {
  const ageMs = changedAt === null ? Number.POSITIVE_INFINITY : now.getTime() - changedAt.getTime();
  return ageMs >= 0 && ageMs < graceMs;
}

/** @returns how many were appended: none when it is known, or another gateway was faster */
async function appendIfMissing(events: EventLog, message: Found['message']): Promise<number> {
  const { id, version } = message.subject;
  const latest = await events.latest(id);
  const hasMoved = version === latest?.version && message.userId !== latest.userId;
  if (latest !== null && version <= latest.version && !hasMoved) return 0;
  const { duplicate } = await events.append({
    ...message,
    // What it corrects is in the id: the same for every gateway, and another one when a thing moves back and forth.
    messageId: `reconciled:${id}:${version}:${latest?.position ?? 0}`,
    receivedAt: new Date(),
    origin: 'reconciled',
    deadReason: null,
  });
  return duplicate ? 0 : 1;
}

/** Knows when the next comparison is due, and why. */
function createDueClock({ everyMs, silenceMs, graceMs, lookMs }: ReconcileTiming) {
  const now = () => performance.now();
  let [lastRunAt, lastNewsAt, lookedAt] = [now(), now(), now()];
  let requested: { readonly reason: ReconcileReason; readonly at: number } | null = null;

  const request = (reason: ReconcileReason, inMs: number) => {
    const at = now() + inMs;
    if (requested === null || at < requested.at) requested = { reason, at };
  };
  return {
    request,
    noteNews: (news: AppendNotice | null) => {
      lastNewsAt = now();
      if (news === null) request('gap', graceMs);
    },
    noteRun: () => {
      lastRunAt = now();
      requested = null;
    },
    due: (): ReconcileReason | null => {
      // The process was stopped (SIGSTOP, a sleeping machine): senders may have given up meanwhile.
      if (now() - lookedAt > lookMs * 6) request('gap', 0);
      lookedAt = now();
      if (requested !== null && requested.at <= now()) return requested.reason;
      if (now() - lastRunAt >= everyMs) return 'period';
      return now() - Math.max(lastRunAt, lastNewsAt) >= silenceMs ? 'silence' : null;
    },
  };
}
