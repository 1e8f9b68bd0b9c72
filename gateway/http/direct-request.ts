import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isRecord } from '../parse/json.ts';
import { chooseMediaType, type MediaType } from './negotiation.ts';
import { traceHeader } from './yoga.ts';

/** The limit for all requests without files, on both routes (yoga.ts). */
const maxBodyBytes = 100_000;

/** The head of an ordinary JSON request. */
export interface DirectHead {
  readonly authorization: string | null;
  readonly origin: string | null;
  readonly trace: string | null;
  readonly acceptEncoding: string | null;
  /** The media type of the answer, chosen as by Yoga. */
  readonly mediaType: MediaType;
}

/** Names and values, alternating, as `writeHead` accepts them. */
export type RawHeaders = readonly string[];

/** A whole answer, except for the headers that every answer has. */
export interface DirectAnswer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
  /** False for mutations, refusals and documents that are not valid. */
  readonly isQuery: boolean;
}

interface Params {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
}

const contentTypes = /^application\/json(; ?charset=utf-8)?$/;

/** The head of an ordinary JSON request; null for all others, which Yoga answers. */
export function readHead(request: IncomingMessage): DirectHead | null {
  if (request.method !== 'POST' || request.url !== '/graphql') return null;
  const headers = readHeaders(request.rawHeaders);
  if (headers === null) return null;
  if (!contentTypes.test(headers.get('content-type') ?? '')) return null;
  const length = headers.get('content-length') ?? '';
  if (!/^\d+$/.test(length) || Number(length) > maxBodyBytes) return null;
  const accept = headers.get('accept');
  const mediaType = accept ? chooseMediaType(accept) : 'application/json';
  if (mediaType === null) return null;
  return {
    authorization: headers.get('authorization') ?? null,
    origin: headers.get('origin') ?? null,
    trace: headers.get(traceHeader) ?? null,
    acceptEncoding: headers.get('accept-encoding') ?? null,
    mediaType,
  };
}

type Use = 'read' | 'unusual';

/** Clients of graphql-sse send it in their single connection mode, which the gateway does not have. */
export const streamTokenHeader = 'x-graphql-event-stream-token';

/** With an unusual header a body may have another length than announced, or another meaning. */
const uses: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['authorization', 'read'],
  ['origin', 'read'],
  ['accept', 'read'],
  ['accept-encoding', 'read'],
  ['content-type', 'read'],
  ['content-length', 'read'],
  ['content-encoding', 'unusual'],
  ['transfer-encoding', 'unusual'],
  ['expect', 'unusual'],
  ['last-event-id', 'unusual'],
  [streamTokenHeader, 'unusual'],
  [traceHeader, 'read'],
]);

/** Null if one of these headers is unusual or was sent twice (Node uses one of the two, Yoga both). */
function readHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const use = uses.get(name);
    if (use === undefined) continue;
    if (use === 'unusual' || headers.has(name)) return null;
    headers.set(name, rawHeaders[at + 1] ?? '');
  }
  return headers;
}

/** The whole body. Node has compared its length with the announced one. Rejects when the client leaves before its end. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client has left during authentication, so there is nobody to answer.
    if (request.destroyed && !request.complete) return reject(new Error('The client has left.'));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [only] = chunks;
      resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
    });
    request.on('error', reject);
    // Making an error captures a stack, so none is made for the usual end.
    request.on('close', () => {
      if (!request.complete) reject(new Error('The client has left.'));
    });
  });
}

/** The parameters; null if anything about them is unusual or wrong, because Yoga answers then. */
export function readParams(body: Buffer): Params | null {
  const json = parse(body);
  if (!isRecord(json)) return null;
  const { query, operationName, variables, extensions } = json;
  if (typeof query !== 'string' || query === '') return null;
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') return null;
  if (!isRecordOrNothing(variables) || !isRecordOrNothing(extensions)) return null;
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return null;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function isRecordOrNothing(value: unknown): value is Record<string, unknown> | null | undefined {
  return value === undefined || value === null || isRecord(value);
}
