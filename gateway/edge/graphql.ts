import type { ExecutionResult } from 'graphql';
import {
  createYoga,
  type GraphiQLOptions,
  isAsyncIterable,
  type Plugin,
  type YogaServerInstance,
} from 'graphql-yoga';
import type { Caller } from '../caller/caller.ts';
import type { GraphContext } from '../graph/context.ts';
import { schema } from '../graph/schema.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { useEventStream } from './event-stream.ts';
import { type GuardOptions, useGuards } from './guards.ts';
import { createMask } from './mask.ts';
import { readStreamItem, useStreamItems } from './stream-items.ts';
import { maxUploadBytes, useUploads } from './uploads.ts';

/** What is known of an operation before it is read: who asks, and when the asking is over. */
export interface Asking {
  readonly caller: Caller;
  /** The browser's `Origin`; left out where there is none. */
  readonly origin?: string | null;
  /** Aborts when the client has left: nobody waits for the answer any more. */
  readonly left: AbortSignal;
  /** Aborts when a stream must end: the client has left, its token has ended or the gateway stops. */
  readonly over: AbortSignal;
  /** Whether the answer is to tell what it asked of the service; for callers of the team only. */
  readonly isTraced?: boolean;
  /** Where the client's stream broke off: what an EventSource sends when it comes back. Wins over `after`. */
  readonly lastEventId?: string | null;
  /** How a stream would travel; over SSE when left out. */
  readonly transport?: 'websocket';
}

/** With the value `upstream`: the answer's `extensions.upstream` tells what it asked of the service. */
export const traceHeader = 'x-labgraph-trace';

/** What streams travel over. */
export type Transport = 'sse' | 'websocket';

export type CreateContext = (asking: Asking) => GraphContext;

export interface GraphQLServerOptions {
  readonly createContext: CreateContext;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly guards: GuardOptions;
  /** Takes multipart requests with files, and only those; else none. */
  readonly takesFiles: boolean;
  /** GraphiQL with these queries filled in; null = no GraphiQL. */
  readonly graphiql: GraphiQL | null;
}

export interface GraphiQL {
  /** Filled in as well; null = the reader fills in their own. */
  readonly gatewayKey: string | null;
  readonly queries: readonly string[];
}

export type GraphQLServer = YogaServerInstance<Asking, GraphContext>;

/**
 * GraphQL over HTTP and SSE, and the enveloped functions that the sockets use: one list of plugins for all.
 * CORS, authentication and body limits stand in front of it (routes.ts).
 */
export function createGraphQLServer(options: GraphQLServerOptions): GraphQLServer {
  const maskError = createMask(options.log);
  return createYoga<Asking, GraphContext>({
    schema,
    // The runtime's own classes. Yoga's ponyfills make a Response over a foreign stream, and when a client leaves
    // such a stream, closing it throws out of band and would end the process (seen with Node 26.10).
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL },
    context: ({ caller, left, over, origin = null, isTraced = false, lastEventId = null }) =>
      options.createContext({ caller, left, over, origin, isTraced, lastEventId }),
    plugins: [
      useGuards({ ...options.guards, mask: maskError }),
      useCounts(options.metrics),
      useTrace(),
      useStreamItems(),
      useEventStream({ onSend: (result) => observeSend(options.metrics, 'sse', result) }),
      ...(options.takesFiles ? [useUploads()] : []),
    ],
    maskedErrors: { maskError: (error) => maskError(error) },
    logging: false,
    cors: false,
    batching: false,
    multipart: false,
    landingPage: false,
    maxRequestBodySize: options.takesFiles ? maxUploadBytes : 100_000,
    ...describeGraphiQL(options.graphiql),
  });
}

function describeGraphiQL(graphiql: GraphiQL | null) {
  if (graphiql === null) return { graphiql: false } as const;
  const key = graphiql.gatewayKey ?? '<your gateway key>';
  const headers = JSON.stringify({ authorization: `Bearer ${key}` }, null, 2);
  return {
    // Loaded with the first page: it is large, and webhooks wait while a gateway starts.
    renderGraphiQL: async (page?: GraphiQLOptions) =>
      (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(page),
    graphiql: {
      title: 'Labgraph GraphiQL',
      headers,
      defaultHeaders: headers,
      shouldPersistHeaders: false,
      subscriptionsProtocol: 'SSE' as const,
      defaultTabs: graphiql.queries.map((query) => ({ query, headers })),
    },
  };
}

/** Counts operations by outcome: `ok`, or the code of the first error. */
function useCounts(metrics: Metrics): Plugin<Asking> {
  const count = (result: unknown) => metrics.operations.inc({ outcome: outcomeOf(result) });
  return {
    onExecute: () => ({ onExecuteDone: ({ result }) => count(result) }),
    onSubscribe: ({ args }) => ({
      onSubscribeResult: ({ result }) => {
        if (!isAsyncIterable(result)) return count(result);
        const transport = args.contextValue.transport ?? 'sse';
        metrics.subscriptions.inc({ transport });
        return { onEnd: () => metrics.subscriptions.dec({ transport }) };
      },
    }),
  };
}

/** Told of each result of a stream just before it is sent. */
export function observeSend(metrics: Metrics, transport: Transport, result: object): void {
  const waitingSince = readStreamItem(result)?.waitingSince ?? null;
  if (waitingSince === null) return;
  metrics.followLagSeconds.observe({ transport }, Math.max(0, Date.now() - waitingSince.getTime()) / 1000);
}

/** Adds what an operation has asked of the service; to each item of a stream, what the stream has so far. */
function useTrace(): Plugin<GraphContext> {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: ({ result, setResult }) => {
        if (!isAsyncIterable(result)) setResult(withTotals(result, args.contextValue));
      },
    }),
    // Only where it is asked for: what looks at each item costs every stream memory while it waits.
    onSubscribe: ({ args }) => {
      if (args.contextValue.upstreamTotals === null) return undefined;
      return {
        onSubscribeResult: () => ({
          onNext: ({ result, setResult }) => setResult(withTotals(result, args.contextValue)),
        }),
      };
    },
  };
}

function withTotals(result: ExecutionResult, { isTraced, upstreamTotals }: GraphContext): ExecutionResult {
  if (!isTraced) return result;
  return { ...result, extensions: { ...result.extensions, upstream: upstreamTotals() } };
}

function outcomeOf(result: unknown): string {
  if (typeof result !== 'object' || result === null || !('errors' in result)) return 'ok';
  const [first] = Array.isArray(result.errors) ? result.errors : [];
  const code: unknown = first?.extensions?.code;
  return typeof code === 'string' ? code : 'INTERNAL';
}
