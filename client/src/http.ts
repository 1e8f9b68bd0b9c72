import { type GraphQLErrorEntry, LabgraphError, toLabgraphError } from './errors.ts';
import type { Tokens } from './token.ts';

/** The address of the gateway's GraphQL endpoint, and who asks there. */
export interface Endpoint {
  readonly url: string;
  readonly tokens: Tokens;
  readonly encode: Encode;
}

/** Makes the body of a request. */
export type Encode = (operation: Operation) => string | FormData;

/** An operation as it is sent. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface GraphQLResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLErrorEntry[] | undefined;
}

export interface PostOptions {
  readonly accept: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Next.js caches answers even to POST, and writes what a page has asked for into the page when it is built. In place of
 * `cache: 'no-store'`, which Cloudflare's workers of before November 2024 refuse.
 */
const uncached = { next: { revalidate: 0 } };

/**
 * Sends an operation.
 * @throws LabgraphError TOKEN_UNAVAILABLE, NETWORK_FAILED; UNAUTHENTICATED: the token is given back, nothing was executed
 */
export async function post(
  { url, tokens, encode }: Endpoint,
  operation: Operation,
  { accept, signal }: PostOptions,
): Promise<Response> {
  const token = await unlessAborted(tokens.get(), signal);
  const body = encode(operation);
  const request = fetch(url, {
    method: 'POST',
    headers: {
      accept,
      authorization: `Bearer ${token}`,
      // Of a form the platform sets it.
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
    signal: signal ?? null,
    ...uncached,
  });
  const response = await unlessAborted(request.catch(failNetwork), signal);
  if (response.status !== 401) return response;
  tokens.reject(token);
  throw await readRefusal(response);
}

/** The GraphQL answer of a response. @throws LabgraphError NETWORK_FAILED, ANSWER_UNREADABLE */
export async function readResult(response: Response): Promise<GraphQLResult> {
  const text = await response.text().catch(failNetwork);
  try {
    return parseResult(text);
  } catch (error) {
    // Written by a proxy while the gateway is away.
    if (response.status >= 500 || response.status === 429) return failNetwork(error);
    throw error;
  }
}

/** What a response says in place of a stream. */
export async function readRefusal(response: Response): Promise<LabgraphError> {
  const { errors = [] } = await readResult(response);
  return toLabgraphError(errors, { requestId: readRequestId(response) });
}

export function readRequestId({ headers }: Response): string | null {
  return headers.get('x-request-id');
}

/** @throws LabgraphError ANSWER_UNREADABLE if the text is not a GraphQL answer */
export function parseResult(text: string): GraphQLResult {
  try {
    const result: GraphQLResult = JSON.parse(text);
    if (result.data !== undefined || result.errors) return result;
  } catch {
    // Said below.
  }
  throw new LabgraphError('ANSWER_UNREADABLE');
}

export function failNetwork(cause: unknown): never {
  throw new LabgraphError('NETWORK_FAILED', { cause });
}

/** Settles as the promise does, or throws the reason of the signal, because a token or an answer may take long. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    // React Native has no reasons.
    const leave = () => reject(signal?.reason ?? Object.assign(new Error(), { name: 'AbortError' }));
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave);
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
  });
}
