import type { ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { createYoga, isAsyncIterable, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Caller } from '../auth/rights.ts';
import { type DocumentCache, requirePrepared } from '../execution/document/prepared-document.ts';
import { findDocument, type TrustedDocuments } from '../execution/document/trusted-documents.ts';
import { formatForStream, type Mask } from '../execution/mask.ts';
import { type RunOperation, type Transport, toOperationArgs } from '../execution/run-operation.ts';
import { observeSend, type RunStream } from '../execution/streams.ts';
import type { GraphContext } from '../graph/context.ts';
import type { Metrics } from '../metrics.ts';
import { isRecord } from '../parse/json.ts';
import type { Dependencies } from '../service/trace.ts';
import { useResultStream } from './result-stream.ts';
import { maxUploadBytes, useUploads } from './uploads.ts';
import { useUtf8Bodies } from './utf8-bodies.ts';

/** The properties of a request that are known before its operation is read. */
export interface OperationRequest {
  readonly caller: Caller;
  /** The browser's `Origin`; left out where there is none. */
  readonly origin?: string | null;
  /** Aborts when the client has left: nobody waits for the answer any more. */
  readonly left: AbortSignal;
  /** Aborts when a stream must end: the client has left, its token or key has ended or the gateway stops. */
  readonly over: AbortSignal;
  /** Whether the answer has `extensions.upstream`; for gateway keys only. */
  readonly isTraced?: boolean;
  /**
   * The cursor at which the client's stream broke off, which an EventSource sends when it reconnects. It wins over
   * `after`.
   */
  readonly lastEventId?: string | null;
  /** Records the reads of the answer; left out if the answer is for this operation only. */
  readonly dependencies?: Dependencies | undefined;
  /** The transport of a stream, default SSE; null if the client accepts none. */
  readonly transport?: Transport | null;
  /** Where the answer is written; left out without a connection. */
  readonly outgoing?: ServerResponse | undefined;
}

/** With the value `upstream`, the answer's `extensions.upstream` counts its calls to the service. */
export const traceHeader = 'x-labgraph-trace';

export type CreateContext = (request: OperationRequest) => GraphContext;

export interface GraphQLServerOptions {
  readonly schema: GraphQLSchema;
  /** The path of its route; default `/graphql`. */
  readonly endpoint?: string;
  readonly createContext: CreateContext;
  readonly metrics: Metrics;
  readonly documents: DocumentCache;
  readonly trustedDocuments: TrustedDocuments;
  readonly runOperation: RunOperation;
  readonly runStream: RunStream;
  readonly mask: Mask;
  /** Accepts only multipart requests with files; otherwise accepts none. */
  readonly takesFiles: boolean;
}

export type GraphQLServer = YogaServerInstance<OperationRequest, GraphContext>;

/**
 * GraphQL over HTTP with its streams, and the enveloped functions for sockets, with one list of plugins for both. CORS,
 * authentication and body limits come before it (routes.ts, graphql-route.ts).
 */
export function createGraphQLServer(options: GraphQLServerOptions): GraphQLServer {
  return createYoga<OperationRequest, GraphContext>({
    schema: options.schema,
    graphqlEndpoint: options.endpoint ?? '/graphql',
    // The runtime's own classes. Yoga's ponyfills wrap a stream of another kind in a Response. When a client leaves
    // such a stream, closing it throws outside of any handler and would end the process (seen with Node 26.10).
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL },
    context: ({ caller, left, over, origin = null, isTraced = false, lastEventId = null }) =>
      options.createContext({ caller, left, over, origin, isTraced, lastEventId }),
    plugins: [
      useDocuments(options),
      useExecution(options),
      useResultStream({ onSend: (transport, result) => observeSend(options.metrics, transport, result) }),
      options.takesFiles ? useUploads() : useUtf8Bodies(),
    ],
    parserAndValidationCache: false,
    maskedErrors: { maskError: (error) => options.mask(error) },
    logging: false,
    cors: false,
    batching: false,
    multipart: false,
    landingPage: false,
    maxRequestBodySize: options.takesFiles ? maxUploadBytes : 100_000,
    graphiql: false,
  });
}

/** All others are ignored, as GraphQL over HTTP has it. Yoga would refuse them. */
const parameters = new Set(['query', 'operationName', 'variables', 'extensions']);

/** Gets documents, by text or id, and their validation errors from the gateway's own cache. */
function useDocuments({ documents, trustedDocuments }: GraphQLServerOptions): Plugin<GraphContext> {
  return {
    onParams: ({ params, request, setParams }) => {
      // Yoga refuses batches later, and everything else that is not a record.
      if (!isRecord(params)) return undefined;
      const documentId = params.documentId ?? readDocumentId(request);
      const query = findDocument(trustedDocuments, { ...params, documentId }) ?? params.query;
      const named = Object.entries({ ...params, query }).filter(([name]) => parameters.has(name));
      setParams(Object.fromEntries(named));
      return typeof query === 'string' ? (documents.waitForTurn(query) ?? undefined) : undefined;
    },
    onParse: ({ context, setParseFn }) =>
      setParseFn((source) =>
        documents.prepare(typeof source === 'string' ? source : source.body, context.caller),
      ),
    onValidate: ({ context, setValidationFn }) =>
      setValidationFn((_schema, document) => documents.validate(requirePrepared(document), context.caller)),
  };
}

/** The document id of a GET; Yoga ignores parameters that it does not know. */
function readDocumentId({ method, url }: Request): string | undefined {
  if (method !== 'GET') return undefined;
  return new URL(url).searchParams.get('documentId') ?? undefined;
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
