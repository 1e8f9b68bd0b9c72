import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../auth/rights.ts';
import type { Span } from './tracing.ts';

/** The properties of a request that its log lines need. A socket has those of its upgrade. */
export interface RequestScope {
  /** The `x-request-id`: of the client, or made here. */
  readonly id: string;
  /** Null until the caller is authenticated. */
  caller: Caller | null;
  /** The span that the work runs under; null without tracing. */
  span: Span | null;
}

export const requestIdHeader = 'x-request-id';

/** 1 to 128 printable characters of ASCII. */
const idForm = /^[\x20-\x7e]{1,128}$/;

/** The id of a request with this header; a new one where it has none that can be used. */
function chooseId(sent: unknown): string {
  return typeof sent === 'string' && idForm.test(sent) ? sent : randomUUID();
}

/** The id of a request of node:http. A new id is written into its headers, so that it has the same one each time. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const id = chooseId(headers[requestIdHeader]);
  headers[requestIdHeader] = id;
  return id;
}

/** @param request of node:http, or of Fetch */
export function createRequestScope(request: IncomingMessage | Request): RequestScope {
  const id =
    request instanceof Request ? chooseId(request.headers.get(requestIdHeader)) : requestIdOf(request);
  return { id, caller: null, span: null };
}

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs work, with everything that it awaits or starts, as a part of the request. */
export function runInScope<Result>(scope: RequestScope, work: () => Result): Result {
  return scopes.run(scope, work);
}

/** The scope of the request that the current work belongs to; undefined for the gateway's own work. */
export function currentRequest(): RequestScope | undefined {
  return scopes.getStore();
}
