import { LRUCache } from 'lru-cache';
import { type Invalidation, Invalidations } from './invalidations.ts';

export interface Loaded<Value> {
  readonly value: Value;
  /** The heap that the value takes, in bytes. */
  readonly size: number;
  /** Null = the value is passed to its waiters and not stored. */
  readonly tags: readonly string[] | null;
  /** When the first part of the value expires, in the time of `performance.now()`. */
  readonly expiresAt?: number;
}

/** A value that equal requests share. */
export interface Entry<Value> {
  readonly value: Value;
  /** Null when it is not stored. */
  readonly tags: readonly string[] | null;
  readonly expiresAt: number;
  /** When its load began, in the time of `SharedCache.now()`. */
  readonly beganAt: number;
}

/** How a request was answered without a load of its own. */
export type Shared = 'joined' | 'cached';

export interface Wanted<Value> {
  /** Called at once if no entry and no load in flight can be used. Equal keys load values of the same type. */
  readonly load: (load: LoadControl) => Promise<Loaded<Value>>;
  /** The load must have begun after this time (`SharedCache.now()`). Default: any entry or load in flight may be used. */
  readonly since?: number | undefined;
  /** Ends the wait with its reason. When all waiters of a load have left, the load is aborted. */
  readonly signal?: AbortSignal | undefined;
  readonly onShared?: ((how: Shared) => void) | undefined;
  /** Called when the stored entry is dropped before it has expired. */
  readonly onDropped?: ((why: 'changed' | 'full') => void) | undefined;
}

export interface LoadControl {
  /** Aborts when nobody waits for the load any more. */
  readonly signal: AbortSignal;
  /** Makes the value private to its first requester: the others that joined start loads of their own. */
  readonly detach: () => void;
}

export interface SharedCacheOptions {
  /** How long an entry is valid; 0 = only loads in flight are joined. */
  readonly ttlMs: number;
  /** The bytes of all entries together, overhead included. */
  readonly maxBytes?: number;
}

interface Stored extends Entry<unknown> {
  readonly tags: readonly string[];
  readonly onDropped: Wanted<unknown>['onDropped'];
  /** The time of the latest invalidation when it was last found valid. */
  checkedAt: number;
}

/** A larger cache holds more answers that nobody asks for again, and the heap grows with it (decision 0130). */
const defaultMaxBytes = 16 * 1024 * 1024;
/** The overhead of an entry and of each of its tags. */
const bytesOf = { entry: 1000, tag: 100 } as const;
/**
 * Expiry times are rounded down to this many steps per TTL. So an answer made of 21 reads is made again once, and not
 * once for each read.
 */
const stepsPerTtl = 40;

/**
 * Values that equal requests share: reads of the service and whole answers. Equal loads in flight are joined (single
 * flight); a loaded value is stored for its TTL, and the least recently used are evicted. After `invalidate` no entry
 * with one of the tags is used; a load that began before it is neither joined nor stored after it. Failures are never
 * stored.
 */
export class SharedCache {
  readonly #ttlMs: number;
  readonly #entries: LRUCache<string, Stored>;
  readonly #loads = new Map<string, Load<unknown>>();
  readonly #invalidations = new Invalidations();
  #time = 0;
  #purge: NodeJS.Timeout | null = null;

  constructor({ ttlMs, maxBytes = defaultMaxBytes }: SharedCacheOptions) {
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      dispose: (entry, _key, reason) => {
        if (reason === 'evict') entry.onDropped?.(this.#isInvalidated(entry) ? 'changed' : 'full');
      },
    });
  }

  /** Whether it stores anything, or joins loads in flight only. */
  get isStoring(): boolean {
    return this.#ttlMs > 0;
  }

  /** A time for `since`: after the start of every load so far, and before the start of every later load. */
  now(): number {
    this.#time += 1;
    return this.#time;
  }

  /** Whether there is an entry that can be used, or a load in flight, with this key. */
  has(key: string): boolean {
    const entry = this.#entries.peek(key);
    return (entry !== undefined && this.#isUsable(key, entry)) || this.#loads.has(key);
  }

  /** Returns the entry with this key, or joins an equal load in flight, or starts a load. */
  get<Value>(key: string, wanted: Wanted<Value>): Promise<Entry<Value>> {
    const { since = 0, signal } = wanted;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const entry = this.#find(key, since);
    if (entry !== undefined) {
      wanted.onShared?.('cached');
      // Equal keys load the same type of value.
      return Promise.resolve(entry as Entry<Value>);
    }
    const inFlight = this.#loads.get(key) as Load<Value> | undefined;
    if (inFlight === undefined || !this.#isJoinable(inFlight, since)) return this.#start(key, wanted);
    wanted.onShared?.('joined');
    return inFlight.wait(signal, null).then((entry) => entry ?? this.#start(key, wanted));
  }

  /** From now on, `get` returns no value with one of the tags whose load began earlier. */
  invalidate(invalidation: Invalidation): void {
    this.#invalidations.add(invalidation, this.now());
  }

  #find(key: string, since: number): Stored | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.beganAt > since && this.#isUsable(key, entry) ? entry : undefined;
  }

  /** Drops the entry if it has expired or was invalidated. */
  #isUsable(key: string, entry: Stored): boolean {
    const isExpired = entry.expiresAt <= performance.now();
    if (!isExpired && entry.checkedAt >= this.#invalidations.latest) return true;
    const isInvalidated = !isExpired && this.#isInvalidated(entry);
    entry.checkedAt = this.#invalidations.latest;
    if (!isExpired && !isInvalidated) return true;
    this.#entries.delete(key);
    if (isInvalidated) entry.onDropped?.('changed');
    return false;
  }

  /** Since its last check; it was valid then. */
  #isInvalidated({ tags, beganAt, checkedAt }: Stored): boolean {
    return this.#invalidations.touches({ tags, beganAt: Math.max(beganAt, checkedAt) });
  }

  /** The tags of a value in flight are not known yet, so each invalidation may be one of them. */
  #isJoinable({ beganAt, signal }: Load<unknown>, since: number): boolean {
    return beganAt > since && beganAt > this.#invalidations.latest && !signal.aborted;
  }

  #start<Value>(key: string, wanted: Wanted<Value>): Promise<Entry<Value>> {
    const load = new Load<Value>(this.now());
    this.#loads.set(key, load);
    const result = load.wait(wanted.signal);
    void this.#run(key, load, wanted);
    return result;
  }

  /** Settles the waiters of the load, and never rejects. */
  async #run<Value>(key: string, load: Load<Value>, wanted: Wanted<Value>): Promise<void> {
    const isCurrent = () => this.#loads.get(key) === load;
    const detach = () => {
      if (isCurrent()) this.#loads.delete(key);
      load.detach();
    };
    try {
      const loaded = await wanted.load({ signal: load.signal, detach });
      const entry = this.#toEntry(load, loaded, isCurrent());
      if (isCurrent()) this.#replace(key, entry, { size: loaded.size, onDropped: wanted.onDropped });
      load.settle((waiter) => waiter.resolve(entry));
    } catch (error) {
      load.settle((waiter) => waiter.reject(error));
    }
    if (isCurrent()) this.#loads.delete(key);
  }

  #toEntry<Value>({ beganAt }: Load<Value>, loaded: Loaded<Value>, isCurrent: boolean): Entry<Value> {
    const { value, tags, expiresAt = Number.POSITIVE_INFINITY } = loaded;
    const isStorable = isCurrent && tags !== null && !this.#invalidations.touches({ tags, beganAt });
    return {
      value,
      tags: isStorable ? tags : null,
      expiresAt: Math.min(expiresAt, this.#endOfTtl()),
      beganAt,
    };
  }

  #endOfTtl(): number {
    const end = performance.now() + this.#ttlMs;
    if (this.#ttlMs === 0) return end;
    const step = this.#ttlMs / stepsPerTtl;
    return Math.floor(end / step) * step;
  }

  /** The earlier entry of the key is older, so it is dropped even if the new one is not stored. */
  #replace(
    key: string,
    { value, tags, expiresAt, beganAt }: Entry<unknown>,
    { size, onDropped }: Pick<Stored, 'onDropped'> & { readonly size: number },
  ): void {
    this.#entries.delete(key);
    if (tags === null || expiresAt <= performance.now()) return;
    const checkedAt = this.#invalidations.latest;
    const entry: Stored = { value, tags, expiresAt, beganAt, onDropped, checkedAt };
    // An entry that is larger than the whole cache is not stored.
    this.#entries.set(key, entry, { size: size + bytesOf.entry + tags.length * bytesOf.tag });
    this.#purgeLater();
  }

  /** Entries that nobody can use are removed even if nobody asks for them: they may be health data. */
  #purgeLater(): void {
    this.#purge ??= setTimeout(() => {
      this.#purge = null;
      for (const [key, entry] of this.#entries.entries()) this.#isUsable(key, entry);
      if (this.#entries.size > 0) this.#purgeLater();
    }, this.#ttlMs).unref();
  }
}

/** One request that waits for a load. */
interface Waiter<Value> {
  /** A method, so that loads of any value are loads of `unknown`. */
  resolve(entry: Entry<Value>): void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  /** Called when the signal aborts. */
  readonly leave: () => void;
  /** Sends a waiter that has joined away; null for the first one. */
  readonly detach: (() => void) | null;
}

/** A load in flight and its waiters. */
class Load<Value> {
  readonly beganAt: number;
  readonly #abort = new AbortController();
  readonly #waiters = new Set<Waiter<Value>>();

  constructor(beganAt: number) {
    this.beganAt = beganAt;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * A waiter without a signal never leaves, so its load is not aborted.
   * @param end the result of a waiter that has joined, when the value turns out to be for the first one only
   */
  wait<End extends null = never>(signal: AbortSignal | undefined, end?: End): Promise<Entry<Value> | End> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) this.#abort.abort(signal?.reason);
        reject(signal?.reason);
      };
      const detach = end === undefined ? null : () => resolve(end);
      const waiter = { resolve, reject, signal, leave, detach };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  detach(): void {
    for (const waiter of this.#waiters) {
      if (waiter.detach === null) continue;
      this.#remove(waiter);
      waiter.detach();
    }
  }

  settle(end: (waiter: Waiter<Value>) => void): void {
    for (const waiter of this.#waiters) {
      this.#remove(waiter);
      end(waiter);
    }
  }

  #remove(waiter: Waiter<Value>): void {
    this.#waiters.delete(waiter);
    waiter.signal?.removeEventListener('abort', waiter.leave);
  }
}
