import { Pool } from 'undici';
import { type Entry, type Invalidation, type Shared, SharedCache } from '../cache/shared-cache.ts';
import { isGatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';
import { type ExchangeLimits, exchange, toBody, toHeaders, toKey, toPath } from './exchange.ts';
import { describeEnd, readAnswer } from './failure.ts';
import { type OpenOptions, openFile, type UpstreamFile } from './file.ts';
import { createPathChoice, type Fetched, withRetries } from './retry.ts';

/** The process has 10 s to end: 4 for requests in hand, these for calls under way, the rest for the event log. */
const closeMs = 3000;

export interface Upstream {
  /**
   * The service's JSON answer to a call that changes nothing, or `undefined` when it says that there is none
   * (404). Equal reads of one `rights` key share one call, unless its answer is single-use; passing faults are tried again until the deadline.
   */
  readonly read: (call: UpstreamCall, options: ReadOptions) => Promise<unknown>;
  /**
   * Like `read` for a call that changes something. Sent exactly once; never aborted half-way. What it touches is
   * invalidated before it is sent, and again before it is answered; everything, where that is not said.
   */
  readonly write: (call: UpstreamCall, options?: WriteOptions) => Promise<unknown>;
  /**
   * A file, as soon as it begins to come, or `undefined` when there is none (404). Tried again like a read until then; what goes wrong later breaks the
   * stream. Never shared.
   */
  readonly open: (call: UpstreamCall, options: OpenOptions) => Promise<UpstreamFile | undefined>;
  /** A moment for `since`. */
  readonly now: () => number;
  readonly close: () => Promise<void>;
}

export interface ReadOptions {
  /** What the caller may see, as a key: answers are never shared between different keys. */
  readonly rights: string;
  /** Ends the wait when the client has left, with ABANDONED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Only an answer whose call began after this time of the cache will do: for whoever acts on what it says. Where left out,
   * a cached one will do as well.
   */
  readonly since?: number | undefined;
  /** Whether news of the service touches the answer: a cached one is then given only while news are received. */
  readonly followsNews?: boolean;
  /** What the answer depends on (change.ts), so that it can be cached until that changes; null when it is not to be. */
  readonly tags?: ((json: unknown) => readonly string[] | null) | undefined;
  /** Told when no call of its own is needed. */
  readonly onShared?: ((how: Shared) => void) | undefined;
  /** Told of the answer when it is there. */
  readonly onEntry?: ((entry: Entry<unknown>) => void) | undefined;
}

export interface WriteOptions {
  /** What it may change, given its answer; undefined before it is sent, and when nobody knows what it did. */
  readonly touches: (answer: { readonly json: unknown } | undefined) => Invalidation;
}

export interface UpstreamOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly apiKeyHeader: string;
  /** The whole call, retries included; at most 15,000 (service facts: the service's own limit). */
  readonly deadlineMs?: number;
  /** One attempt of a read. */
  readonly attemptMs?: number;
  readonly retryDelayMs?: number;
  readonly maxBodyBytes?: number;
  readonly connections?: number;
  readonly onCall?: (operation: string, outcome: string, seconds: number) => void;
  readonly onShared?: (operation: string, how: Shared) => void;
  /** Where answers are shared; a cache of its own that stores nothing where left out. */
  readonly cache?: SharedCache;
  /** Whether all news that anybody has received have reached the cache by now; asked before a cached answer is given. */
  readonly catchUp?: () => Promise<boolean>;
  /** Reports to others with a cache what a write has touched; settles when they will know. */
  readonly onWritten?: (touched: Invalidation) => Promise<void>;
  /** Told of each read that a cached answer would have answered: there was none, or news are not received. */
  readonly onMissed?: (why: 'miss' | 'unheard') => void;
  /** Told of each cached answer that is dropped before it has expired. */
  readonly onDropped?: (why: 'changed' | 'full') => void;
  /** Reads with equal keys share an answer; `toKey` where left out. */
  readonly readKey?: typeof toKey | undefined;
}

/** The service behind one pool of keep-alive connections to one origin. The key goes nowhere else. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { url, apiKey, apiKeyHeader, deadlineMs = 15_000, attemptMs = 6000, retryDelayMs = 100 } = options;
  const maxBodyBytes = options.maxBodyBytes ?? 16 * 1024 * 1024;
  const base = new URL(url);
  const pool = new Pool(base.origin, { connections: options.connections ?? 64, pipelining: 1 });
  const {
    cache = new SharedCache({ ttlMs: 0 }),
    onDropped,
    onMissed,
    catchUp = async () => true,
    onWritten = async () => {},
    readKey = toKey,
  } = options;

  const choosePath = createPathChoice();

  const requestOf = (call: UpstreamCall) => ({
    method: call.method,
    path: toPath(base.pathname, call),
    headers: toHeaders(call, { [apiKeyHeader]: apiKey }),
    ...toBody(call),
  });
  const attempt = async (call: UpstreamCall, limits: Omit<ExchangeLimits, 'maxBytes'>): Promise<Fetched> => {
    const answer = await exchange(pool, requestOf(call), { ...limits, maxBytes: maxBodyBytes });
    return { json: readAnswer(answer, call.readsRefusals), bytes: answer.body.length };
  };

  const measured = async <Result>(call: UpstreamCall, run: () => Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const report = (outcome: string) =>
      options.onCall?.(call.operation, outcome, (performance.now() - startedAt) / 1000);
    try {
      const json = await run();
      report('ok');
      return json;
    } catch (error) {
      report(isGatewayError(error) ? error.code : 'INTERNAL');
      throw error;
    }
  };

  const readOnce = (call: UpstreamCall, left: AbortSignal) => {
    const deadline = performance.now() + deadlineMs;
    return measured(call, () =>
      withRetries({ deadline, baseDelayMs: retryDelayMs }, () =>
        choosePath(call, (chosen) => {
          const remainingMs = Math.max(1, deadline - performance.now());
          return attempt(chosen, { ms: Math.ceil(Math.min(attemptMs, remainingMs)), left });
        }),
      ),
    );
  };

  /** While news are not received, nothing that follows them is stored, and nothing stored is given. */
  const share = async (call: UpstreamCall, asked: ReadOptions) => {
    const { followsNews = true, signal } = asked;
    const looks = cache.isStoring && asked.since === undefined && asked.tags !== undefined;
    const isCaughtUp = !(looks && followsNews) || (await catchUp());
    try {
      const entry = await cache.get(readKey(call, asked.rights), {
        load: async (load) => {
          if (looks) onMissed?.(isCaughtUp ? 'miss' : 'unheard');
          const { json, bytes } = await readOnce(call, load.signal);
          return { value: json, size: bytes, tags: isCaughtUp ? readTags(asked, json) : null };
        },
        since: isCaughtUp ? asked.since : cache.now(),
        signal,
        onShared: (how) => {
          options.onShared?.(call.operation, how);
          asked.onShared?.(how);
        },
        onDropped,
      });
      asked.onEntry?.(entry);
      return entry.value;
    } catch (error) {
      throw signal?.aborted ? describeEnd(signal) : error;
    }
  };
  const write = async (call: UpstreamCall, touches: WriteOptions['touches']) => {
    let touched = touches(undefined);
    cache.invalidate(touched);
    try {
      const { json } = await measured(call, () => attempt(call, { ms: deadlineMs, left: null }));
      touched = touches({ json });
      return json;
    } catch (error) {
      // A refusal changed nothing; of any other fault nobody knows what it did, nor to whose things.
      if (!isGatewayError(error, 'UPSTREAM_REJECTED')) touched = 'everything';
      throw error;
    } finally {
      cache.invalidate(touched);
      await onWritten(touched);
    }
  };

  return {
    read: async (call, asked) => {
      if (!call.isSingleUse) return await share(call, asked);
      return (await readOnce(call, asked.signal ?? new AbortController().signal)).json;
    },
    write: (call, { touches } = { touches: () => 'everything' }) => write(call, touches),
    open: (call, options) => {
      const deadline = performance.now() + deadlineMs;
      return measured(call, () =>
        withRetries({ deadline, baseDelayMs: retryDelayMs }, () => {
          const headMs = Math.max(1, Math.min(attemptMs, deadline - performance.now()));
          const request = requestOf(call);
          // Files are passed through uncompressed: their formats compress already, and clients get their length.
          const headers = { ...request.headers, accept: options.accept, 'accept-encoding': 'identity' };
          const limits = { headMs, pauseMs: deadlineMs, maxBytes: maxBodyBytes };
          return openFile(pool, { ...request, headers }, { ...options, ...limits });
        }),
      );
    },
    now: () => cache.now(),
    close: () => closeWithin(pool, closeMs),
  };
}

/** What is not there (404) is not stored, nor what cannot be read. */
function readTags({ tags }: ReadOptions, json: unknown): readonly string[] | null {
  if (typeof json !== 'object' || json === null) return null;
  try {
    return tags?.(json) ?? null;
  } catch {
    return null;
  }
}

/** Lets calls under way end; those that take longer are cut, so that the process can end in time. */
async function closeWithin(pool: Pool, ms: number): Promise<void> {
  const cut = setTimeout(() => void pool.destroy(), ms);
  await pool.close().catch(() => undefined);
  clearTimeout(cut);
}
