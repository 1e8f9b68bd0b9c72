import { Pool } from 'undici';
import { isGatewayError } from '../errors.ts';
import type { Touched } from './change.ts';
import { type AnsweredBy, createCoalescer } from './coalesce.ts';
import { type ExchangeLimits, exchange } from './exchange.ts';
import { readAnswer } from './failure.ts';
import { type OpenOptions, openFile, type UpstreamFile } from './file.ts';
import type { Form } from './form.ts';
import { createPathChoice } from './other-path.ts';
import { toBody, toHeaders, toKey, toPath } from './request.ts';
import { withRetries } from './retry.ts';
import type { Fetched, Standing } from './shelf.ts';

/** One call to the service. Knows paths and JSON, but no concept of the service. */
export interface UpstreamCall {
  /** A short name for logs and metrics, such as `order.list`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The same resource under another path, tried when `path` is not found or redirects. For reads only. */
  readonly otherPath?: string;
  /** Lists become repeated keys; null and undefined are left out. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** Whether each answer is good for one caller only, such as single-use keys: then no two reads share one. */
  readonly isSingleUse?: boolean;
  /** Statuses of refusals whose JSON says something that the caller branches on: given back as Refusal, not thrown. */
  readonly readsRefusals?: readonly number[];
  /** More request headers, such as the service's idempotency key. The key header cannot be set here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as multipart/form-data in place of `body`. */
  readonly form?: Form;
}

/** The process has 10 s to end: 4 for requests in hand, these for calls under way, the rest for the event log. */
const closeMs = 3000;

type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[];

export interface Upstream {
  /**
   * The service's JSON answer to a call that changes nothing, or `undefined` when it says that there is none
   * (404). Equal reads of one `rights` key share one call, unless its answer is single-use; passing faults are tried again until the deadline.
   */
  readonly read: (call: UpstreamCall, options: ReadOptions) => Promise<unknown>;
  /**
   * Like `read` for a call that changes something. Sent exactly once; never aborted half-way. What it touches is
   * given up before it is sent, and again before it is answered; everything, where that is not said.
   */
  readonly write: (call: UpstreamCall, options?: WriteOptions) => Promise<unknown>;
  /**
   * A file, as soon as it begins to come, or `undefined` when there is none (404). Tried again like a read until then; what goes wrong later breaks the
   * stream. Never shared.
   */
  readonly open: (call: UpstreamCall, options: OpenOptions) => Promise<UpstreamFile | undefined>;
  /** Marks an operation, for the sharing of reads (see coalesce.ts). */
  readonly begin: () => () => void;
  /** From now on no read is answered with an older answer that this touches. */
  readonly change: (touched: Touched) => void;
  /** How many changes it was told so far: while it is the same, what was read meanwhile is not known to be old. */
  readonly changes: () => number;
  readonly close: () => Promise<void>;
}

export interface ReadOptions {
  /** What the caller may see, as a key: answers are never shared between different keys. */
  readonly rights: string;
  /** Ends the wait when the client has left, with ABANDONED. */
  readonly signal?: AbortSignal | undefined;
  /** Told when another read's answer answers this one as well. */
  readonly onAnswered?: ((by: AnsweredBy) => void) | undefined;
  /** Whether an answer that was kept will do: never for whoever acts on what it says. */
  readonly takesKept?: boolean;
  /** Whether news of the service touches the answer: a kept one is then given only while they are heard. */
  readonly followsNews?: boolean;
  /** What the answer rests on, so that it can be kept until that changes (change.ts); null when it is not to be. */
  readonly restsOn?: ((json: unknown) => readonly string[] | null) | undefined;
  /** Told where the answer is one that an equal read would be given as well, as things stand. */
  readonly onStanding?: ((standing: Standing) => void) | undefined;
}

export interface WriteOptions {
  /** What it may change, given its answer; undefined before it is sent, and when nobody knows what it did. */
  readonly touches: (answer: { readonly json: unknown } | undefined) => Touched;
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
  readonly onAnswered?: (operation: string, by: AnsweredBy) => void;
  /** For how long an answer is kept that says what it rests on; 0 = never (the default). */
  readonly keepMs?: number;
  /** Whether all news that anybody has heard were told by now; asked before a kept answer is given. */
  readonly hearNews?: () => Promise<boolean>;
  /** Tells others who keep answers what a write has touched; settles when they will know. */
  readonly onWritten?: (touched: Touched) => Promise<void>;
  /** Told of each read that a kept answer would have answered: none was there, or news were not heard. */
  readonly onMissed?: (why: 'miss' | 'unheard') => void;
  /** Told of each kept answer that is given up before its time. */
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
    keepMs = 0,
    onDropped,
    onMissed,
    hearNews = async () => true,
    onWritten = async () => {},
    readKey = toKey,
  } = options;
  const coalescer = createCoalescer({ keepMs, ...(onDropped === undefined ? {} : { onDropped }) });

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

  /** While news are not heard nothing that follows them is kept, and nothing kept is given. */
  const share = async (call: UpstreamCall, asked: ReadOptions) => {
    const { takesKept = false, followsNews = true } = asked;
    const looks = keepMs > 0 && takesKept;
    const isHeard = !(looks && followsNews) || (await hearNews());
    return await coalescer.share(readKey(call, asked.rights), {
      read: (left) => {
        if (looks) onMissed?.(isHeard ? 'miss' : 'unheard');
        return readOnce(call, left);
      },
      signal: asked.signal,
      takesKept: looks && isHeard,
      restsOn: isHeard ? asked.restsOn : undefined,
      onStanding: asked.onStanding,
      onAnswered: (by) => {
        options.onAnswered?.(call.operation, by);
        asked.onAnswered?.(by);
      },
    });
  };
  const write = async (call: UpstreamCall, touches: WriteOptions['touches']) => {
    let touched = touches(undefined);
    coalescer.change(touched);
    try {
      const { json } = await measured(call, () => attempt(call, { ms: deadlineMs, left: null }));
      touched = touches({ json });
      return json;
    } catch (error) {
      // A refusal changed nothing; of any other fault nobody knows what it did, nor to whose things.
      if (!isGatewayError(error, 'UPSTREAM_REJECTED')) touched = 'everything';
      throw error;
    } finally {
      coalescer.change(touched);
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
    begin: coalescer.begin,
    change: coalescer.change,
    changes: coalescer.changes,
    close: () => closeWithin(pool, closeMs),
  };
}

/** Lets calls under way end; those that take longer are cut, so that the process can end in time. */
async function closeWithin(pool: Pool, ms: number): Promise<void> {
  const cut = setTimeout(() => void pool.destroy(), ms);
  await pool.close().catch(() => undefined);
  clearTimeout(cut);
}
