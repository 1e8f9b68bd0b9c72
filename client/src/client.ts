import { type GraphQLDocument, toText } from './document.ts';
import { toLabgraphError } from './errors.ts';
import { type FollowSettings, follow, type Updates } from './follow.ts';
import { type Encode, type Operation, post, readRequestId, readResult, unlessAborted } from './http.ts';
import { createTokens, type TokenProvider } from './token.ts';
import { createHttpTransport } from './transports/http-stream.ts';
import { multipart } from './transports/multipart.ts';
import { sse } from './transports/sse.ts';
import { createWebSocketTransport } from './transports/websocket.ts';

export interface LabgraphClientOptions {
  /** The gateway's GraphQL endpoint, such as `https://gateway.example.com/graphql`. */
  readonly url: string;
  /** A gateway key (on servers), or a function that returns a viewer token. It is called once for each token that is needed. */
  readonly token: string | TokenProvider;
  /** A constructor of WebSocket, where the runtime has none. */
  readonly webSocketImpl?: unknown;
  /** `encodeFiles` of `@labgraph/client/files`, where variables hold files. */
  readonly encode?: Encode | undefined;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface FollowOptions extends Pick<FollowSettings, 'signal' | 'onOpen' | 'onRetry'> {
  /** One socket for each 50 subscriptions, or a request for each one; `websocket` if left out. */
  readonly transport?: 'websocket' | 'sse' | 'multipart' | undefined;
}

/** Variables may be left out if none is required. */
type Rest<Variables, Options> =
  Record<never, never> extends Variables
    ? [variables?: Variables | undefined, options?: Options]
    : [variables: Variables, options?: Options];

type AnyVariables = Readonly<Record<string, unknown>>;

/** A client of one gateway for one caller. */
export interface LabgraphClient {
  /** The answer's `data`. @throws LabgraphError if any part of it failed; what did not fail is its `data` */
  readonly query: <Result = unknown, Variables extends object = AnyVariables>(
    document: GraphQLDocument<Result, Variables>,
    ...rest: Rest<Variables, RequestOptions>
  ) => Promise<Result>;
  /** The same for a mutation. It is sent once more only if the gateway rejected the token, and so executed nothing. */
  readonly mutate: LabgraphClient['query'];
  /**
   * The items of a subscription, over as many connections as necessary. The document declares `$after: EventCursor`, passes
   * it as `after`, and selects `cursor`.
   */
  readonly follow: <Result = unknown, Variables extends object = AnyVariables>(
    document: GraphQLDocument<Result, Variables>,
    ...rest: Rest<Variables, FollowOptions>
  ) => Updates<Result>;
}

export function createLabgraphClient({
  url,
  token,
  webSocketImpl,
  encode = JSON.stringify,
}: LabgraphClientOptions): LabgraphClient {
  const tokens = createTokens(token);
  const endpoint = { url, tokens, encode };
  const overSse = createHttpTransport(endpoint, sse);
  const transports = {
    websocket: createWebSocketTransport({ ...endpoint, webSocketImpl }, overSse),
    sse: overSse,
    multipart: createHttpTransport(endpoint, multipart),
  };

  async function send(operation: Operation, options: RequestOptions): Promise<unknown> {
    const sending = { accept: 'application/graphql-response+json, application/json', ...options };
    const response = await post(endpoint, operation, sending).catch((error: unknown) => {
      if (Object(error).code !== 'UNAUTHENTICATED' || !tokens.canRenew) throw error;
      return post(endpoint, operation, sending);
    });
    const { data, errors } = await unlessAborted(readResult(response), options.signal);
    if (errors) throw toLabgraphError(errors, { data, requestId: readRequestId(response) });
    return data;
  }

  const request = (
    document: GraphQLDocument<unknown, never>,
    variables: object = {},
    options: RequestOptions = {},
  ) => send({ query: toText(document), variables: { ...variables } }, options);
  const followDocument = (
    document: GraphQLDocument<unknown, never>,
    variables: object = {},
    { transport = 'websocket', ...options }: FollowOptions = {},
  ) =>
    follow(
      { query: toText(document), variables: { ...variables } },
      { ...options, transport: transports[transport], canRenew: tokens.canRenew },
    );
  // The document's generator vouches for the type of the answer.
  return {
    query: request as LabgraphClient['query'],
    mutate: request as LabgraphClient['mutate'],
    follow: followDocument as LabgraphClient['follow'],
  };
}
