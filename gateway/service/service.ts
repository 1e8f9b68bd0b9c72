import type { Owner, Rights } from '../auth/rights.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import { type AuditedCall, auditCall } from './audited-call.ts';
import type { Cacheable, Guarded, Page, ReadFile, ReadOne, ReadOptions, ReadPage, Write } from './calls.ts';
import { callTimeoutMs, type Upstream } from './client.ts';
import type { UpstreamFile } from './file.ts';
import { tagsOfOne, tagsOfPage, touchedByWrite } from './tags.ts';
import { OperationCalls } from './trace.ts';
import { type OnUnreadable, readNoting } from './unreadable.ts';

/**
 * The service as one caller may use it. Reports every access to somebody's data to the audit trail. Its methods depend on
 * `this`.
 */
export interface Service {
  /** The thing, or null when it does not exist or is not the caller's; nothing distinguishes the two. */
  readonly readOne: <T>(read: ReadOne<T>) => Promise<T | null>;
  readonly readPage: <Row>(read: ReadPage<Row>) => Promise<Page<Row>>;
  /** The file, or null when it does not exist or is not the caller's. Read it or cancel it: it holds a connection. */
  readonly readFile: (read: ReadFile) => Promise<UpstreamFile | null>;
  /**
   * The answer, or null when its subject does not exist or is not the caller's.
   * @throws GatewayError that says whether it may have been done (`mayBeDone`)
   */
  readonly write: <T>(write: Write<T>) => Promise<T | null>;
  /**
   * The same service for resolvers that only show what they read: an answer may come from the cache (`ReadOne.cachedUntil`).
   * Code that acts on an answer uses the service itself: its reads begin after the operation did.
   */
  readonly forShowing: Service;
  /** From now on, reads use no answers from before this call. */
  readonly readAnew: () => void;
  /** The same, and restarts the time limit of reads, as in a new operation. A stream calls this before each event. */
  readonly beginAnew: () => void;
  /** How many writes of this operation were begun. */
  readonly writes: number;
  /** What the caller may see and do. */
  readonly rights: Rights;
  /** The path that this service has in place of a path of the specification. */
  readonly pathOf: (path: string) => string;
}

/** The part of the client that operations use. */
export type OperationUpstream = Pick<Upstream, 'read' | 'write' | 'open' | 'now'>;

export interface ServiceOptions {
  /** Its `onAccess` gets every access to somebody's data. */
  readonly rights: Rights;
  /** The paths that this service has in place of paths of the specification. */
  readonly paths?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** For all reads before a write or after it; no write is sent later. Default: each call has its own timeout only. */
  readonly timeoutMs?: number;
  /** Counts the calls of the operation. */
  readonly calls?: OperationCalls;
  /** Called with the team that an answer names. */
  readonly onTeam?: (teamId: string) => void;
  /** Called for rows that a reader left out and for answers that it refused. */
  readonly onUnreadable?: (operation: string, ...found: Parameters<OnUnreadable>) => void;
}

export const emptyPage: Page<never> = { rows: [], total: 0, pages: 0, nextCursor: null, from: null };

/**
 * Binds the service to one caller. This is the one place that compares the owner of an answer with the caller: the team key
 * can read every user, so every answer is checked here, and the type of a read requires an owner.
 */
export function bindService(upstream: OperationUpstream, options: ServiceOptions): Service {
  const service = new BoundService(upstream, { calls: new OperationCalls(), ...options }, false);
  service.beginAnew();
  return service;
}

type BoundOptions = ServiceOptions & Required<Pick<ServiceOptions, 'calls'>>;

/** A class, so that its methods are shared: each operation has one, and one more for showing. */
class BoundService implements Service {
  readonly rights: Rights;
  readonly #upstream: OperationUpstream;
  readonly #options: BoundOptions;
  /** Shared with `forShowing`. */
  readonly #calls: OperationCalls;
  readonly #isForShowing: boolean;
  readonly #timeoutMs: number;
  #forShowing: Service | null = null;

  constructor(upstream: OperationUpstream, options: BoundOptions, isForShowing: boolean) {
    this.rights = options.rights;
    this.#upstream = upstream;
    this.#options = options;
    this.#calls = options.calls;
    this.#isForShowing = isForShowing;
    this.#timeoutMs = options.timeoutMs ?? Number.POSITIVE_INFINITY;
  }

  get forShowing(): Service {
    if (this.#isForShowing) return this;
    this.#forShowing ??= new BoundService(this.#upstream, this.#options, true);
    return this.#forShowing;
  }

  get writes(): number {
    return this.#calls.writes;
  }

  pathOf(path: string): string {
    return this.#options.paths?.[path] ?? path;
  }

  readAnew(): void {
    this.#calls.beganAt = this.#upstream.now();
  }

  beginAnew(): void {
    this.readAnew();
    this.#calls.beginTime(this.#timeoutMs);
  }

  /** Ends the wait for a read. Most reads end by their own timeout, which needs no other. */
  #signalOfRead(): AbortSignal | undefined {
    const { signal } = this.#options;
    const leftMs = this.#calls.timeLeft();
    if (leftMs >= callTimeoutMs) return signal;
    const late = AbortSignal.timeout(Math.ceil(leftMs));
    return signal === undefined ? late : AbortSignal.any([signal, late]);
  }

  async readOne<T>(read: ReadOne<T>): Promise<T | null> {
    const call = auditCall(this.rights.onAccess, 'read', read);
    if (!this.#mayAsk(read, call)) return null;
    this.#calls.begin(read.isSingleUse ? 'for-itself' : 'read');
    try {
      const thing = await this.#ask(read, (found) => tagsOfOne(read, found, this.rights));
      if (thing === undefined) return call.reportMissing();
      const subject = this.#subjectOf(read.owner, thing);
      const isOwn = this.#owns(subject);
      call.report(isOwn ? 'ok' : 'refused', subject?.userId);
      return isOwn ? thing : null;
    } catch (error) {
      throw call.reportFailure(error);
    } finally {
      this.#calls.end();
    }
  }

  async readPage<Row>(read: ReadPage<Row>): Promise<Page<Row>> {
    const call = auditCall(this.rights.onAccess, 'read', read);
    if (!this.#mayAsk(read, call)) return emptyPage;
    this.#calls.begin(read.isSingleUse ? 'for-itself' : 'read');
    try {
      let isEarlier = false;
      const tags = (page: Page<Row>) => tagsOfPage(read, page);
      const page = await this.#ask(read, tags, ({ beganAt }) => {
        isEarlier = beganAt < this.#calls.beganAt;
      });
      if (page === undefined) return call.reportMissing() ?? emptyPageOf(read);
      if (read.about) call.report('ok');
      const own = this.#ownRows(read, page, call);
      return isEarlier ? { ...own, isEarlier } : own;
    } catch (error) {
      throw call.reportFailure(error);
    } finally {
      this.#calls.end();
    }
  }

  async readFile(read: ReadFile): Promise<UpstreamFile | null> {
    const { signal } = this.#options;
    const call = auditCall(this.rights.onAccess, 'file', read);
    if (!this.#mayAsk(read, call)) return null;
    this.#calls.begin('for-itself');
    try {
      this.#calls.timeLeft();
      const file = await this.#upstream.open(read, { accept: read.accept, signal });
      if (file === undefined) return call.reportMissing();
      call.report('ok');
      return file;
    } catch (error) {
      throw call.reportFailure(error);
    } finally {
      this.#calls.end();
    }
  }

  async write<T>(write: Write<T>): Promise<T | null> {
    const call = auditCall(this.rights.onAccess, 'write', write);
    if (!this.#mayAsk(write, call)) return null;
    this.#calls.begin('for-itself');
    try {
      this.#calls.timeLeft();
      const json = await this.#send(write);
      if (json === undefined) return call.reportMissing();
      const reader = (answer: unknown) => this.#readOwn(write, answer);
      const thing = readNoting(reader, json, this.#reportUnreadable(write.operation));
      if (thing === null) return call.reportMissing();
      call.report('ok', write.about.userId ?? this.#subjectOf(write.owner, thing)?.userId ?? null);
      return thing;
    } catch (error) {
      call.reportFailure(error);
      throw isGatewayError(error) ? error.withOutcome(mayBeDone(error)) : error;
    } finally {
      this.#calls.end();
    }
  }

  /** After a write there is time to read its outcome. */
  async #send<T>(write: Write<T>): Promise<unknown> {
    this.#calls.writes += 1;
    try {
      return await this.#upstream.write(write, { touches: (answer) => touchedByWrite(write, answer) });
    } finally {
      this.#calls.beginTime(this.#timeoutMs);
    }
  }

  #mayAsk({ scope, about }: Guarded & { readonly about?: Owner }, call: AuditedCall): boolean {
    const { rights } = this;
    if (scope !== null) rights.require(scope);
    if (about === undefined || rights.owns(about)) return true;
    call.report('refused');
    return false;
  }

  #owns(subject: Owner | null): boolean {
    const { rights } = this;
    return subject === null || rights.owns(subject);
  }

  /** The owner that the answer names. */
  #subjectOf<T>(owner: 'anyone' | ((thing: T) => Owner), thing: T): Owner | null {
    if (owner === 'anyone') return null;
    const subject = owner(thing);
    if (subject.teamId) this.#options.onTeam?.(subject.teamId);
    return subject;
  }

  #ask<T>(
    read: Cacheable & { readonly reader: (json: unknown) => T },
    tags: ReadOptions<T>['tags'],
    onEntry?: ReadOptions<T>['onEntry'],
  ): Promise<T | undefined> {
    const { cachedUntil, reader } = read;
    const calls = this.#calls;
    const isForAll = cachedUntil === 'ttl';
    return this.#upstream.read(read, {
      reader,
      rights: isForAll ? 'anyone' : this.rights.key,
      signal: this.#signalOfRead(),
      since: this.#isForShowing ? undefined : calls.beganAt,
      followsEvents: !isForAll,
      tags: cachedUntil === undefined ? undefined : tags,
      onShared: calls.onShared,
      onEntry: (entry) => {
        calls.noteEntry(entry);
        onEntry?.(entry);
      },
      onUnreadable: this.#reportUnreadable(read.operation),
    });
  }

  #reportUnreadable(operation: string): OnUnreadable {
    const { onUnreadable } = this.#options;
    return (path, rows) => onUnreadable?.(operation, path, rows);
  }

  /** An answer about somebody else counts as unreadable: it says nothing about the write. */
  #readOwn<T>(write: Write<T>, json: unknown): T {
    const thing = write.reader(json);
    if (this.#owns(this.#subjectOf(write.owner, thing)) && isOf(write, thing)) return thing;
    const message = 'The service answered about something else.';
    throw new GatewayError('UPSTREAM_UNREADABLE', message, { status: 200 });
  }

  /** Rows of other users, which the service lists unasked, are left out and are not accesses for the audit trail. */
  #ownRows<Row>(read: ReadPage<Row>, page: Page<Row>, call: AuditedCall): Page<Row> {
    return filterRows(read.refine?.(page) ?? page, (row) => {
      const subject = this.#subjectOf(read.owner, row);
      if (!this.#owns(subject)) return false;
      if (subject !== null) call.report('ok', subject.userId);
      return true;
    });
  }
}

/** Replaces rows of others by null. A total that counts them would reveal them, so it becomes null too. */
export function filterRows<Row>(page: Page<Row>, belongs: (row: Row) => boolean): Page<Row> {
  if (page.rows.every((row) => row === null || belongs(row))) return page;
  return { ...page, rows: page.rows.map((row) => (row !== null && belongs(row) ? row : null)), total: null };
}

/**
 * A 404 about a user's list means that there is no such user, so the list is empty. Any other 404 is a fault of the
 * configuration.
 */
function emptyPageOf(read: { readonly about?: Owner }): Page<never> {
  if (read.about !== undefined) return emptyPage;
  const message = 'The service has no such list. Check SERVICE_URL and the paths in the configuration.';
  throw new GatewayError('UPSTREAM_REJECTED', message, { status: 404 });
}

/** Whether the answer to a write is about the same user and order as the write, as far as it names them. */
function isOf<T>({ owner, about }: Write<T>, thing: T): boolean {
  if (owner === 'anyone') return true;
  const subject = owner(thing);
  return isSameId(subject.userId, about.userId) && isSameId(subject.orderId, about.orderId);
}

function isSameId(shown: string | null | undefined, asked: string | null | undefined): boolean {
  return !shown || !asked || shown.toLowerCase() === asked.toLowerCase();
}

/** Whether a write that failed may have been done: not after a refusal, and not if the call was never sent. */
function mayBeDone(error: GatewayError): boolean {
  if (error.notSent) return false;
  return isGatewayError(error, 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNREADABLE');
}
