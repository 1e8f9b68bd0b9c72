import type { GraphQLSchema } from 'graphql';
import {
  createYoga,
  type GraphiQLOptions,
  isAsyncIterable,
  type Plugin,
  type YogaServerInstance,
} from 'graphql-yoga';
import type { Caller } from '../auth/rights.ts';
import { type DocumentCache, requirePrepared } from '../execution/document/prepared-document.ts';
import { findDocument, type TrustedDocuments } from '../execution/document/trusted-documents.ts';
import { formatForStream, type Mask } from '../execution/mask.ts';
import { type RunOperation, toOperationArgs } from '../execution/run-operation.ts';
import { observeSend, type RunStream } from '../execution/streams.ts';
import type { GraphContext } from '../graph/context.ts';
import type { Metrics } from '../metrics.ts';
import type { Dependencies } from '../service/trace.ts';
import { useEventStream } from './event-stream.ts';
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
  /** Whether the answer has `extensions.upstream`; for callers of the team only. */
  readonly isTraced?: boolean;
  /** Where the client's stream broke off: what an EventSource sends when it comes back. Wins over `after`. */
  readonly lastEventId?: string | null;
  /** Notes what the answer depends on; left out where it is for this operation alone. */
  readonly dependencies?: Dependencies | undefined;
  /** How a stream would travel; over SSE when left out. */
  readonly transport?: 'websocket';
}

/** With the value `upstream`, the answer's `extensions.upstream` counts its calls to the service. */
export const traceHeader = 'x-labgraph-trace';

export type CreateContext = (asking: Asking) => GraphContext;

export interface GraphQLServerOptions {
  readonly schema: GraphQLSchema;
  readonly createContext: CreateContext;
  readonly metrics: Metrics;
  readonly documents: DocumentCache;
  readonly trustedDocuments: TrustedDocuments;
  readonly runOperation: RunOperation;
  readonly runStream: RunStream;
  readonly mask: Mask;
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
 * CORS, authentication and body limits come before it (routes.ts, graphql-route.ts).
 */
export function createGraphQLServer(options: GraphQLServerOptions): GraphQLServer {
  return createYoga<Asking, GraphContext>({
    schema: options.schema,
    // The runtime's own classes. Yoga's ponyfills make a Response over a foreign stream, and when a client leaves
    // such a stream, closing it throws out of band and would end the process (seen with Node 26.10).
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL },
    context: ({ caller, left, over, origin = null, isTraced = false, lastEventId = null }) =>
      options.createContext({ caller, left, over, origin, isTraced, lastEventId }),
    plugins: [
      useDocuments(options),
      useExecution(options),
      useEventStream({ onSend: (result) => observeSend(options.metrics, 'sse', result) }),
      ...(options.takesFiles ? [useUploads()] : []),
    ],
    parserAndValidationCache: false,
    maskedErrors: { maskError: (error) => options.mask(error) },
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

/** Takes documents by their text or id, and their validation errors, from our cache. */
function useDocuments({ documents, trustedDocuments }: GraphQLServerOptions): Plugin<GraphContext> {
  return {
    onParams: ({ params, request, setParams }) => {
      // Yoga refuses batches, and everything else that is no record, after this.
      if (!isRecord(params)) return undefined;
      const { documentId = readDocumentId(request), ...rest } = params;
      const query = findDocument(trustedDocuments, { ...rest, documentId });
      if (query !== null) setParams({ ...rest, query });
      const text = query ?? params.query;
      return typeof text === 'string' ? (documents.waitForTurn(text) ?? undefined) : undefined;
    },
    onParse: ({ context, setParseFn }) =>
      setParseFn((source) =>
        documents.prepare(typeof source === 'string' ? source : source.body, context.caller),
      ),
    onValidate: ({ context, setValidationFn }) =>
      setValidationFn((_schema, document) => documents.validate(requirePrepared(document), context.caller)),
  };
}

/** Yoga reads only the parameters of a GET that it knows. */
function readDocumentId({ method, url }: Request): string | undefined {
  if (method !== 'GET') return undefined;
  return new URL(url).searchParams.get('documentId') ?? undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Operations and streams run as on every other transport. */
function useExecution({ runOperation, runStream }: GraphQLServerOptions): Plugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn((args) => runOperation(toOperationArgs(args))),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(runStream),
    // Yoga serializes new copies of errors, which have no locations.
    onResultProcess: ({ result, setResult }) => {
      if (isAsyncIterable(result) || Array.isArray(result) || result.errors === undefined) return;
      const errors = result.errors.map(formatForStream);
      setResult({ ...result, stringify: (written) => JSON.stringify({ ...written, errors }) });
    },
  };
}
