import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { SandboxEnv } from '../service.ts';

/** One way in which an answer goes wrong. */
export const faultEffect = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('tooManyRequests'), retryAfterSeconds: z.number().exactOptional() }),
  /** 500 with the text `Internal Server Error`, as the public service answers (observed). */
  z.object({ kind: z.literal('serverError') }),
  /** 403: the team is not enabled for the feature. */
  z.object({ kind: z.literal('featureNotEnabled') }),
  /** Any answer at all. */
  z.object({
    kind: z.literal('answer'),
    status: z.number().int().min(200).max(599),
    body: z.string(),
    headers: z.record(z.string(), z.string()).exactOptional(),
  }),
  /** The work is done; the JSON of the answer breaks off in the middle. */
  z.object({ kind: z.literal('truncatedBody') }),
  /** No answer until the caller disconnects or the sandbox closes; the work is not done. */
  z.object({ kind: z.literal('hang') }),
  /** The work is done; the connection breaks before the answer. */
  z.object({ kind: z.literal('lostAnswer') }),
  /** Orders in the answer have an unknown last status. */
  z.object({ kind: z.literal('unknownStatus'), status: z.string().exactOptional() }),
  /** The answer gets this many bytes of padding. */
  z.object({ kind: z.literal('bigBody'), bytes: z.number().int().min(0).max(100_000_000) }),
]);
type FaultEffect = Readonly<z.output<typeof faultEffect>>;

/** A fault for matching requests; delay and effect may be combined. */
export interface FaultRule {
  /** All methods where left out. */
  readonly method?: string;
  /** A string is a prefix of the path; a pattern is searched in path and query. */
  readonly path: string | RegExp;
  /** The number of requests; unlimited where left out. */
  readonly times?: number;
  readonly delayMs?: number;
  readonly effect?: FaultEffect;
}

function isMatch(rule: FaultRule, method: string, pathAndQuery: string): boolean {
  if (rule.method !== undefined && rule.method.toUpperCase() !== method) return false;
  if (typeof rule.path === 'string') return pathAndQuery.startsWith(rule.path);
  return rule.path.test(pathAndQuery);
}

/** Rules that make the sandbox misbehave; the first that matches a request is used. */
export class Faults {
  #rules: { readonly rule: FaultRule; left: number }[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#rules = [];
  }

  /** The rule for a request, counted as used. */
  take(method: string, pathAndQuery: string): FaultRule | undefined {
    const found = this.#rules.find(({ rule, left }) => left > 0 && isMatch(rule, method, pathAndQuery));
    if (found) found.left -= 1;
    return found?.rule;
  }
}

/** The answer of an effect that does no work; undefined for an effect that spoils a finished answer. */
function answerInstead(effect: FaultEffect): Response | undefined {
  switch (effect.kind) {
    case 'tooManyRequests':
      return Response.json(
        { detail: 'Too many requests' },
        { status: 429, headers: { 'retry-after': String(effect.retryAfterSeconds ?? 1) } },
      );
    case 'serverError':
      return new Response('Internal Server Error', {
        status: 500,
        headers: { 'content-type': 'text/plain' },
      });
    case 'featureNotEnabled':
      return Response.json({ detail: 'This feature is not enabled for your team.' }, { status: 403 });
    case 'answer':
      return new Response(effect.body || null, {
        status: effect.status,
        headers: { 'content-type': 'application/json', ...effect.headers },
      });
    default:
      return undefined;
  }
}

async function hang(c: Context<SandboxEnv>, closing: AbortSignal): Promise<Response> {
  const signal = AbortSignal.any([closing, c.req.raw.signal]);
  if (!signal.aborted) await once(signal, 'abort');
  return Response.json({ detail: 'The sandbox is closing.' }, { status: 503 });
}

/** Breaks the connection where there is one; a plain `fetch` gets a body that fails when it is read. */
function loseAnswer(c: Context<SandboxEnv>): Response {
  const socket = c.env?.incoming?.socket;
  if (socket) {
    socket.destroy();
    return new Response(null);
  }
  const broken = new ReadableStream({
    start(controller) {
      controller.error(new Error('The connection was lost.'));
    },
  });
  return new Response(broken, { headers: { 'content-type': 'application/json' } });
}

/** Replaces the last status of each order in an answer. */
function withUnknownStatus(value: unknown, status: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withUnknownStatus(each, status));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withUnknownStatus(each, status)]);
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  if (!Array.isArray(copy.events)) return copy;
  const last = { ...copy.events.at(-1), status };
  return {
    ...copy,
    status: status.split('.')[0],
    events: [...copy.events.slice(0, -1), last],
    last_event: last,
  };
}

async function spoil(answer: Response, effect: FaultEffect): Promise<Response> {
  const { status } = answer;
  const headers = { 'content-type': 'application/json' };
  const text = await answer.text();
  switch (effect.kind) {
    case 'truncatedBody':
      return new Response(text.slice(0, Math.floor(text.length / 2)), { status, headers });
    case 'unknownStatus':
      return Response.json(
        withUnknownStatus(JSON.parse(text), effect.status ?? 'resting.testkit.on_the_moon'),
        {
          status,
        },
      );
    case 'bigBody':
      return Response.json({ ...JSON.parse(text), padding: 'x'.repeat(effect.bytes) }, { status });
    default:
      return new Response(text, { status, headers });
  }
}

/** Applies the fault rule that matches the request, if there is one. */
export function misbehave(faults: Faults, closing: AbortSignal): MiddlewareHandler<SandboxEnv> {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const rule = faults.take(c.req.method, url.pathname + url.search);
    if (!rule) return next();
    if (rule.delayMs) await sleep(rule.delayMs, undefined, { signal: closing }).catch(() => undefined);
    const { effect } = rule;
    if (!effect) return next();
    if (effect.kind === 'hang') return hang(c, closing);
    const instead = answerInstead(effect);
    if (instead) return instead;
    await next();
    const answer = effect.kind === 'lostAnswer' ? loseAnswer(c) : await spoil(c.res, effect);
    // Hono would merge the headers of the old answer into the new one.
    c.res = undefined;
    c.res = answer;
  };
}
