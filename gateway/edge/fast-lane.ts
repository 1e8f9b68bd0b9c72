import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ExecutionResult, getOperationAST } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import type { Caller } from '../caller/caller.ts';
import type { Log } from '../log.ts';
import { admit, type Gate, noteAdmitted } from './admission.ts';
import { createEdgeHeaders, type RawHeaders } from './edge-headers.ts';
import { type GraphQLServer, traceHeader } from './graphql.ts';
import type { Mask } from './mask.ts';
import {
  type MediaType,
  type PlainParams,
  type PlainRequest,
  readBody,
  readParams,
  readPlainHead,
} from './plain-request.ts';
import { answerRefusal } from './refusals.ts';

export interface FastLaneOptions extends Gate {
  readonly graphql: GraphQLServer;
  readonly mask: Mask;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly beginOperation: () => () => void;
  readonly log: Log;
}

interface Lane extends FastLaneOptions {
  readonly edgeHeaders: (origin: string | null) => Promise<RawHeaders>;
  readonly getEnveloped: GraphQLServer['getEnveloped'];
  readonly otherwise: RequestListener;
}

/**
 * Answers ordinary JSON queries and mutations straight from node:http, through the same enveloped parse, validate,
 * context and execute as Yoga: its Request and Response cost more than all the rest of a small query. Whatever is
 * unusual, wrong or a stream goes to `otherwise`, unread or with its body, and is answered there.
 */
export function createFastLane(options: FastLaneOptions, otherwise: RequestListener): RequestListener {
  const edgeHeaders = createEdgeHeaders(options.isAllowedOrigin);
  // Taken once: each time it is asked for, Yoga's proxy makes a function.
  const { getEnveloped } = options.graphql;
  const lane: Lane = { ...options, edgeHeaders, getEnveloped, otherwise };
  return (request, response) => {
    const head = readPlainHead(request, traceHeader);
    if (head === null) return otherwise(request, response);
    answer(lane, { request, response, head }).catch((error: unknown) =>
      fail(lane, { request, response, error }),
    );
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: PlainRequest;
}

async function answer(lane: Lane, { request, response, head }: Exchange): Promise<void> {
  const headers = await lane.edgeHeaders(head.origin);
  const caller = await admit(lane, head).catch(answerRefusal);
  if (caller instanceof Response) return await sendResponse(response, caller, headers);
  const body = await readBody(request);
  const params = readParams(body);
  const left = new AbortController();
  const run = params === null ? null : prepare(lane, params, { head, caller, left });
  if (run === null) return handOn(lane, { request, response, body, caller });
  response.once('close', () => {
    if (!response.writableFinished) left.abort('Client connection prematurely closed.');
  });
  const end = lane.beginOperation();
  try {
    await sendResult(lane, response, { result: await run(), headers, mediaType: head.mediaType });
  } finally {
    end();
  }
}

interface Asked {
  readonly head: PlainRequest;
  readonly caller: Caller;
  readonly left: AbortController;
}

type Run = () => Promise<ExecutionResult>;

/** How to run what is asked; null for what is wrong with it, and for streams. */
function prepare(
  { getEnveloped, mask }: Lane,
  params: PlainParams,
  { head, caller, left }: Asked,
): Run | null {
  const isTraced = head.trace === 'upstream';
  const { signal } = left;
  const enveloped = getEnveloped({ caller, origin: head.origin, left: signal, over: signal, isTraced });
  try {
    const document = enveloped.parse(params.query);
    if (enveloped.validate(enveloped.schema, document).length > 0) return null;
    const { operationName, variables: variableValues } = params;
    const operation = getOperationAST(document, operationName);
    if (!operation || operation.operation === 'subscription') return null;
    return async () => {
      try {
        const contextValue = await enveloped.contextFactory();
        const { schema } = enveloped;
        return await enveloped.execute({ schema, document, contextValue, variableValues, operationName });
      } catch (error) {
        return { errors: [mask(error)] };
      }
    };
  } catch {
    return null;
  }
}

/** With the body in hand, as @hono/node-server takes it (`rawBody`); who asks is known and has paid. */
function handOn(
  { otherwise }: Lane,
  given: Omit<Exchange, 'head'> & { readonly body: Buffer; readonly caller: Caller },
): void {
  noteAdmitted(given.request, given.caller);
  otherwise(Object.assign(given.request, { rawBody: given.body }), given.response);
}

interface Answer {
  readonly result: ExecutionResult;
  readonly headers: RawHeaders;
  readonly mediaType: MediaType;
}

async function sendResult(
  { graphql }: Lane,
  response: ServerResponse,
  { result, headers, mediaType }: Answer,
): Promise<void> {
  if (result.errors !== undefined) {
    // Which status errors have is Yoga's to say.
    const answered = processRegularResult(result, graphql.fetchAPI, mediaType);
    answered.headers.set('cache-control', 'no-store');
    return await sendResponse(response, answered, headers);
  }
  const body = Buffer.from(JSON.stringify(result));
  const own = ['content-type', `${mediaType}; charset=utf-8`, 'cache-control', 'no-store'];
  response.writeHead(200, [...own, 'content-length', String(body.length), ...headers]).end(body);
}

async function sendResponse(response: ServerResponse, answer: Response, headers: RawHeaders): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(
    answer.status,
    [...answer.headers, ['content-length', String(body.length)]].flat().concat(headers),
  );
  response.end(body);
}

/** Nobody hears of it where the client has left. */
function fail(
  { log }: Lane,
  { request, response, error }: Omit<Exchange, 'head'> & { readonly error: unknown },
): void {
  if (request.destroyed || response.headersSent) return void response.destroy();
  log.error('request.failed', { route: '/graphql', error });
  const body = JSON.stringify({ error: { code: 'INTERNAL', message: 'The gateway failed.' } });
  response.writeHead(500, { 'content-type': 'application/json' }).end(body);
}
