import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { authenticateRequest, type RequestAuthentication, storeCaller } from '../auth/authenticate.ts';
import type { Caller } from '../auth/rights.ts';
import type { Log } from '../log.ts';
import { type AnswerPlainly, type PlainAnswer, readAnswer } from './direct-answer.ts';
import { type PlainRequest, readBody, readPlainHead } from './direct-request.ts';
import { createEdgeHeaders, type RawHeaders } from './headers.ts';
import { answerRefusal } from './refusals.ts';
import { traceHeader } from './yoga.ts';

export interface FastLaneOptions extends RequestAuthentication {
  readonly answerPlainly: AnswerPlainly;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly log: Log;
}

interface Lane extends FastLaneOptions {
  readonly edgeHeaders: (origin: string | null) => Promise<RawHeaders>;
  readonly otherwise: RequestListener;
}

/**
 * Answers ordinary JSON queries and mutations straight from node:http: Yoga's Request and Response cost more than all
 * the rest of a small query. Whatever is unusual, wrong or a stream goes to `otherwise`, unread or with its body, and is
 * answered there.
 */
export function createFastLane(options: FastLaneOptions, otherwise: RequestListener): RequestListener {
  const lane: Lane = { ...options, edgeHeaders: createEdgeHeaders(options.isAllowedOrigin), otherwise };
  return (request, response) => {
    const head = readPlainHead(request, traceHeader);
    if (head === null) return otherwise(request, response);
    const exchange = { request, response, head };
    answer(lane, exchange).catch((error: unknown) => fail(lane, exchange, error));
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: PlainRequest;
}

/** In one layer: each more is a promise, and what hangs on it, for every request. */
async function answer(lane: Lane, exchange: Exchange): Promise<void> {
  const { request, response, head } = exchange;
  let caller: Caller;
  try {
    caller = await authenticateRequest(lane, head);
  } catch (error) {
    const refusal = await readAnswer(answerRefusal(error));
    // At once, like Yoga: a later answer would be lost if malformed bytes follow this request.
    return write(response, refusal, await lane.edgeHeaders(head.origin));
  }
  const body = await readBody(request);
  const answered = await lane.answerPlainly({ head, caller, body, left: leaving(response) });
  if (answered === null) handOn(lane, { request, response, body, caller });
  else await send(lane, exchange, answered);
}

/** Aborts when the client leaves before its answer is sent. */
function leaving(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) left.abort('Client connection prematurely closed.');
  });
  return left.signal;
}

/** With the body in hand, as @hono/node-server takes it (`rawBody`); who asks is known and has paid. */
function handOn(
  { otherwise }: Lane,
  given: Omit<Exchange, 'head'> & { readonly body: Buffer; readonly caller: Caller },
): void {
  storeCaller(given.request, given.caller);
  otherwise(Object.assign(given.request, { rawBody: given.body }), given.response);
}

/** Node writes a short text together with its head, and bytes on their own; a long text is copied once too often. */
const shortBytes = 4096;

/**
 * Answers are written when all that has come by now is read: one behind the other they wake the other side once. With
 * both of these 14 % more small answers a second go out (wrk, 32 connections, where writing is half of the work).
 */
async function send(lane: Lane, exchange: Exchange, answered: PlainAnswer): Promise<void> {
  const edgeHeaders = await lane.edgeHeaders(exchange.head.origin);
  setImmediate(() => {
    try {
      write(exchange.response, answered, edgeHeaders);
    } catch (error) {
      fail(lane, exchange, error);
    }
  });
}

function write(response: ServerResponse, { status, headers, body }: PlainAnswer, more: RawHeaders): void {
  response.writeHead(status, [...headers, 'content-length', String(body.length), ...more]);
  if (body.length > shortBytes) response.end(body);
  else response.end(body.toString('latin1'), 'latin1');
}

/** Does nothing if the client has left. */
function fail({ log }: Lane, { request, response }: Exchange, error: unknown): void {
  if (request.destroyed || response.destroyed || response.headersSent) return void response.destroy();
  log.error('request.failed', { route: '/graphql', error });
  const body = JSON.stringify({ error: { code: 'INTERNAL', message: 'The gateway failed.' } });
  response.writeHead(500, { 'content-type': 'application/json' }).end(body);
}
