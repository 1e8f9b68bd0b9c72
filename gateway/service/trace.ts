import type { Caller } from '../auth/rights.ts';
import type { Entry, Shared } from '../cache/shared-cache.ts';
import { describeOver } from './failure.ts';

/**
 * Collects the tags of an operation's answer while it runs, so that the whole answer can be cached like the reads in it
 * (http/whole-answers.ts). Sharing is denied by default: after anything but a noted read, the answer is not shared.
 */
export class Dependencies {
  /** Only answers to queries are shared. */
  isQuery = false;
  /** When the first read of the answer expires. */
  expiresAt = Number.POSITIVE_INFINITY;
  /**
   * The operation's reports to metrics and the audit trail, by key. They are repeated for each operation that shares
   * the answer.
   */
  readonly reports = new Map<string, Report>();
  readonly #tags = new Set<string>();
  readonly #onIsolated: () => void;
  #isStorable = true;
  #pending = 0;

  /** @param onIsolated called when the answer turns out to be for its operation only */
  constructor(onIsolated: () => void) {
    this.#onIsolated = onIsolated;
  }

  /** Null when the answer must not be stored. */
  get tags(): readonly string[] | null {
    return this.isQuery && this.#isStorable && this.#pending === 0 ? [...this.#tags] : null;
  }

  /** The answer is for this operation only. */
  isolate(): void {
    this.forbidStoring();
    this.#onIsolated();
  }

  /** Equal operations in flight share the answer, but it is not stored. */
  forbidStoring(): void {
    this.#isStorable = false;
  }

  /** A read of the service has begun. The answer is not stored while the read is pending or after it has failed. */
  beginRead(): void {
    this.#pending += 1;
  }

  endRead({ tags, expiresAt }: Pick<Entry<unknown>, 'tags' | 'expiresAt'>): void {
    this.#pending -= 1;
    if (tags === null) this.forbidStoring();
    for (const tag of tags ?? []) this.#tags.add(tag);
    this.expiresAt = Math.min(this.expiresAt, expiresAt);
  }

  /** Adds a report, once for each key. */
  addReport(key: string, report: Report): void {
    if (!this.reports.has(key)) this.reports.set(key, report);
  }
}

/** Reports one more operation with the same answer: how long it took, and for whom it was. */
export type Report = (seconds: number, caller: Caller) => void;

/** The calls of one operation to the service so far. */
export interface UpstreamTotals {
  /** Calls made for it, retries not counted. */
  readonly calls: number;
  /** Reads answered by an equal read in flight. */
  readonly shared: number;
  /** Reads answered from the cache. */
  readonly cached: number;
  /** Milliseconds during which it waited for at least one of them. */
  readonly ms: number;
}

/** The reads and calls of one operation to the service: counted, and noted for the answer that is made of them. */
export class OperationCalls {
  /** The reads that act on an answer need one whose call began after this time of the cache. */
  beganAt = 0;
  /** The writes that were begun, for its mutations. */
  writes = 0;
  readonly #dependencies: Dependencies | undefined;
  #asked = 0;
  #shared = 0;
  #cached = 0;
  #waiting = 0;
  #since = 0;
  #ms = 0;
  #timeoutMs = Number.POSITIVE_INFINITY;
  /** Its wait for the service when the time began, in milliseconds. */
  #waitedBefore = 0;

  /** @param dependencies writes, files and single-use answers isolate the answer of the operation */
  constructor(dependencies?: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** To be called before each call, and `end` after it. */
  begin(kind: 'read' | 'for-itself'): void {
    if (kind === 'read') this.#dependencies?.beginRead();
    else this.#dependencies?.isolate();
    this.#asked += 1;
    if (this.#waiting === 0) this.#since = performance.now();
    this.#waiting += 1;
  }

  end(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#ms += performance.now() - this.#since;
  }

  /** From now on it may wait for so long for reads, and before the begin of a write. Other waits do not count. */
  beginTime(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    this.#waitedBefore = this.#waitedMs();
  }

  /** Milliseconds. @throws GatewayError UPSTREAM_TIMEOUT when the time is over */
  timeLeft(): number {
    const leftMs = this.#timeoutMs - (this.#waitedMs() - this.#waitedBefore);
    if (leftMs <= 0) throw describeOver();
    return leftMs;
  }

  #waitedMs(): number {
    return this.#waiting === 0 ? this.#ms : this.#ms + performance.now() - this.#since;
  }

  noteEntry(entry: Entry<unknown>): void {
    this.#dependencies?.endRead(entry);
  }

  /** A property, so that it can be passed on. */
  readonly onShared = (how: Shared): void => {
    if (how === 'joined') this.#shared += 1;
    else this.#cached += 1;
  };

  totals(): UpstreamTotals {
    const [shared, cached] = [this.#shared, this.#cached];
    return { calls: this.#asked - shared - cached, shared, cached, ms: Math.round(this.#ms) };
  }
}
