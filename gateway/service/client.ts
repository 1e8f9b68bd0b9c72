import { setTimeout as wait } from 'node:timers/promises';
import type { Invalidation } from '../cache/invalidations.ts';
import { type Entry, type Shared, SharedCache, type Wanted } from '../cache/shared-cache.ts';
import { codeOf, type GatewayError, isGatewayError } from '../errors.ts';
import { type Attributes, currentTracing, runInSpan, type Span } from '../telemetry/tracing.ts';
import type { ReadOptions, UpstreamCall, WriteOptions } from './calls.ts';
import { Connections, type HttpClient } from './connections.ts';
import { type ExchangeLimits, exchange, toBody, toHeaders, toKey, toPath } from './exchange.ts';
import { describeEnd, type Fetched, readAnswer } from './failure.ts';
import { type OpenOptions, openFile, type UpstreamFile } from './file.ts';
import { createPathChoice, pauseBeforeRetry } from './retry.ts';
import { SharedAnswer } from './shared-answer.ts';

/** How the cache served a read: `unheard` = a read while events are not received. */
export type CacheOutcome = Shared | 'miss' | 'unheard';

export interface UpstreamOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly apiKeyHeader: string;
  /** Whether calls go through the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. */
  readonly usesProxy?: boolean;
  /** The whole call, retries included; at most 15,000 (the service's own limit). */
  readonly deadlineMs?: number;
  /** One attempt of a read. The last attempt that fits gets the rest of the deadline. */
  readonly attemptMs?: number;
  readonly retryDelayMs?: number;
  readonly maxBodyBytes?: number;
  readonly onCall?: (operation: string, outcome: string, seconds: number) => void;
  readonly onFailure?: (call: UpstreamCall, error: GatewayError) => void;
  readonly onCache?: (outcome: CacheOutcome, operation: string) => void;
  /** Called when the cache drops an answer before it has expired. */
  readonly onDropped?: Wanted<unknown>['onDropped'];
  /** The cache of answers. Without it, only calls in flight are joined. */
  readonly cache?: SharedCache;
  /**
   * Whether the cache has been notified of all events that any gateway received. Called before a cached answer is used.
   */
  readonly catchUp?: () => Promise<boolean> | boolean;
  /** Reports the tags that a write has changed to other gateways; settles when they have them. */
  readonly onWritten?: (touched: Invalidation) => Promise<void>;
  /** Reads with equal keys share an answer; `toKey` where left out. */
  readonly readKey?: typeof toKey | undefined;
}

/** Writes are never retried, because the service has no idempotency for most of them (specification, Endpoints). */
const readAttempts = 3;

interface RunOptions {
  readonly maxAttempts?: number;
  /** Aborts when nobody waits any more: there is no further attempt. */
  readonly left?: AbortSignal | null;
}

/** The timeout of a call, its retries included. */
export const callTimeoutMs = 15_000;

const defaults = {
  deadlineMs: callTimeoutMs,
  attemptMs: 6000,
  retryDelayMs: 100,
  maxBodyBytes: 16 * 1024 * 1024,
  catchUp: () => true,
  onWritten: async () => {},
};

/** A client of the service: one pool of keep-alive connections to one origin. The key is sent to no other origin. */
export class Upstream {
  readonly #options: UpstreamOptions & Required<Pick<UpstreamOptions, keyof typeof defaults>>;
  readonly #basePath: string;
  /** The attributes of the service in spans. */
  readonly #address: Attributes;
  readonly #connections: Connections;
  readonly #cache: SharedCache;
  readonly #readKey: typeof toKey;
  readonly #choosePath = createPathChoice();
  #apiKey: string;

  constructor(options: UpstreamOptions) {
    const { origin, pathname, hostname, port, protocol } = new URL(options.url);
    this.#options = { ...defaults, ...options };
    this.#basePath = pathname;
    this.#connections = new Connections(origin, options.usesProxy);
    const servicePort = Number(port || (protocol === 'https:' ? 443 : 80));
    this.#address = { 'server.address': hostname, 'server.port': servicePort };
    this.#apiKey = options.apiKey;
    this.#cache = options.cache ?? new SharedCache({ ttlMs: 0 });
    this.#readKey = options.readKey ?? toKey;
  }

  /** Sends another key from the next call on. */
  useApiKey(key: string): void {
    this.#apiKey = key;
  }

  /**
   * What the reader makes of the service's answer to a call that changes nothing, or `undefined` for 404 and 204. Equal reads
   * of one `rights` key and one reader share one call, unless the answer is single-use. Transient faults are retried
   * until the deadline. While events are not received, no answer that depends on them is stored or taken from the cache.
   * @throws GatewayError UPSTREAM_UNREADABLE, or the reader's own
   */
  async read<T>(call: UpstreamCall, options: ReadOptions<T>): Promise<T | undefined> {
    const { reader, signal } = options;
    try {
      const entry = call.isSingleUse ? null : await this.#share(call, options);
      // Equal calls with different readers share nothing, because a thing has the type of its reader.
      if (entry === null || entry.value.reader !== reader)
        return (await this.#load(call, options, signal)).thing;
      options.onEntry?.(entry);
      const { thing } = entry.value;
      if (this.#cache.isStoring && entry.tags !== null) entry.value.releaseThing();
      return thing;
    } catch (error) {
      throw signal?.aborted ? describeEnd(signal) : error;
    }
  }

  /**
   * Like `read` for a call that changes something. It is sent once and never aborted. The tags of `touches` are
   * invalidated before the call is sent, and again before its answer is returned. Without `touches`, everything is
   * invalidated.
   */
  async write(
    call: UpstreamCall,
    { touches }: WriteOptions = { touches: () => 'everything' },
  ): Promise<unknown> {
    const { deadlineMs, onWritten } = this.#options;
    let touched = touches(undefined);
    this.#cache.invalidate(touched);
    try {
      const attempt = () => this.#attempt(call, { ms: deadlineMs, left: null });
      const { json } = await this.#run(call, attempt, { maxAttempts: 1 });
      touched = touches({ json });
      return json;
    } catch (error) {
      // After a refusal nothing has changed. After any other fault it is unknown whose data has changed.
      if (!isGatewayError(error, 'UPSTREAM_REJECTED')) touched = 'everything';
      throw error;
    } finally {
      this.#cache.invalidate(touched);
      await onWritten(touched);
    }
  }

  /**
   * A file, or `undefined` for 404. It resolves when the head of the answer has arrived, and until then it is retried
   * like a read. A later fault breaks the stream. Files are never shared.
   */
  open(call: UpstreamCall, options: OpenOptions): Promise<UpstreamFile | undefined> {
    const { deadlineMs: pauseMs, maxBodyBytes: maxBytes } = this.#options;
    return this.#run(call, (timeLeft) => {
      const span = this.#startSpan(call);
      const open = async () => {
        const client = await this.connect();
        const request = this.#toRequest(call, client, span);
        // Files are passed through uncompressed: their formats compress already, and clients get their length.
        const headers = { ...request.headers, accept: options.accept, 'accept-encoding': 'identity' };
        const limits = { headMs: timeLeft(), pauseMs, maxBytes, call };
        return await openFile(client.pool, { ...request, headers }, { ...options, ...limits });
      };
      return runInSpan(span, open, codeOf);
    });
  }

  /** Opens the pool. The first call does it where nobody has done it before. */
  connect(): Promise<HttpClient> | HttpClient {
    return this.#connections.open();
  }

  /** Resolves when an operation of the caller may begin; null when it need not wait (`Connections`). */
  waitForConnection(caller: string): Promise<void> | null {
    return this.#connections.waitForOne(caller);
  }

  /** A moment for `since`. */
  now(): number {
    return this.#cache.now();
  }

  /** Lets calls under way end; those that take longer are cut, so that the process can end in time. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Takes the thing from the cache, or joins an equal read in flight, or loads it. */
  async #share<T>(call: UpstreamCall, options: ReadOptions<T>): Promise<Entry<SharedAnswer<T>>> {
    const { rights, signal, since, tags, followsEvents = true } = options;
    const { catchUp, onCache } = this.#options;
    const cache = this.#cache;
    const usesCache = cache.isStoring && since === undefined && tags !== undefined;
    const caughtUp = !(usesCache && followsEvents) || catchUp();
    const isCaughtUp = typeof caughtUp === 'boolean' ? caughtUp : await caughtUp;
    return await cache.get(this.#readKey(call, rights), {
      load: async (load) => {
        if (usesCache) onCache?.(isCaughtUp ? 'miss' : 'unheard', call.operation);
        const value = await this.#load(call, options, load.signal);
        const { thing, size } = value;
        // A missing thing (404) is not stored.
        const isStorable = isCaughtUp && thing !== undefined;
        return { value, size, tags: isStorable ? (tags?.(thing) ?? null) : null };
      },
      since: isCaughtUp ? since : cache.now(),
      signal,
      onShared: (how) => {
        onCache?.(how, call.operation);
        options.onShared?.(how);
      },
      onDropped: this.#options.onDropped,
    });
  }

  async #load<T>(
    call: UpstreamCall,
    { reader, onUnreadable }: ReadOptions<T>,
    left: AbortSignal | undefined,
  ): Promise<SharedAnswer<T>> {
    return new SharedAnswer(reader, await this.#fetch(call, left ?? null), onUnreadable);
  }

  #fetch(call: UpstreamCall, left: AbortSignal | null): Promise<Fetched> {
    const { otherPath } = call;
    const attempt = (timeLeft: () => number) =>
      otherPath === undefined
        ? this.#attempt(call, { ms: timeLeft(), left })
        : this.#choosePath(call, otherPath, (chosen) => this.#attempt(chosen, { ms: timeLeft(), left }));
    return this.#run(call, attempt, { left });
  }

  #attempt(call: UpstreamCall, limits: Omit<ExchangeLimits, 'maxBytes'>): Promise<Fetched> {
    const maxBytes = this.#options.maxBodyBytes;
    const span = this.#startSpan(call);
    const send = async () => {
      const opened = this.connect();
      const client = opened instanceof Promise ? await opened : opened;
      const request = this.#toRequest(call, client, span);
      this.#connections.beginCall();
      try {
        const answer = await exchange(client.pool, request, { ...limits, maxBytes });
        span?.set({ 'http.response.status_code': answer.status });
        return readAnswer(answer, call);
      } finally {
        this.#connections.endCall();
      }
    };
    return runInSpan(span, send, codeOf);
  }

  /** The span of one attempt. It has the name of the call and not its URL, which has ids. */
  #startSpan({ method, operation }: UpstreamCall): Span | undefined {
    const tracing = currentTracing();
    if (tracing === null) return undefined;
    return tracing.start(`${method} ${operation}`, {
      kind: 'client',
      attributes: {
        'http.request.method': method,
        ...this.#address,
        'labgraph.service.operation': operation,
      },
    });
  }

  #toRequest(call: UpstreamCall, { origin, FormData }: HttpClient, span?: Span) {
    const { apiKeyHeader } = this.#options;
    const key = { [apiKeyHeader]: this.#apiKey };
    return {
      origin,
      method: call.method,
      path: toPath(this.#basePath, call),
      headers: toHeaders(call, span === undefined ? key : { ...key, traceparent: span.traceparent }),
      ...toBody(call, FormData),
    };
  }

  /**
   * Makes a call, again after transient faults, and reports its outcome.
   * @param attempt is given the timeout of an attempt that begins now, in milliseconds
   */
  async #run<Result>(
    call: UpstreamCall,
    attempt: (timeLeft: () => number) => Promise<Result>,
    { maxAttempts = readAttempts, left = null }: RunOptions = {},
  ): Promise<Result> {
    const { attemptMs, deadlineMs, retryDelayMs: baseDelayMs, onCall, onFailure } = this.#options;
    const startedAt = performance.now();
    const deadline = startedAt + deadlineMs;
    const timeLeft = () => {
      const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
      // The last attempt: otherwise no answer that takes longer than `attemptMs` would ever arrive.
      return leftMs < 2 * attemptMs ? leftMs : attemptMs;
    };
    for (let attempts = 1; ; attempts += 1) {
      try {
        const result = await attempt(timeLeft);
        onCall?.(call.operation, 'ok', (performance.now() - startedAt) / 1000);
        return result;
      } catch (error) {
        const isLast = attempts === maxAttempts || left?.aborted === true;
        const pauseMs = isLast ? null : pauseBeforeRetry(error, { attempts, deadline, baseDelayMs });
        if (pauseMs === null) {
          onCall?.(call.operation, codeOf(error), (performance.now() - startedAt) / 1000);
          if (isGatewayError(error)) onFailure?.(call, error);
          throw error;
        }
        await wait(pauseMs);
      }
    }
  }
}
