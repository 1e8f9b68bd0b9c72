import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../auth/rights.ts';
import type { Log } from '../log.ts';
import { type RequestScope, runInScope } from './request.ts';

export interface AccessLogOptions {
  readonly log: Log;
  /** The name of a caller for the log: of its key, or a pseudonym. */
  readonly nameOf: (caller: Caller) => string;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly scope: RequestScope;
}

/** The status of a request whose connection has ended before its answer; nginx's. */
const unanswered = 499;

/** Writes a line for each answer when it has been sent or its client has left. */
export type AccessLog = (exchange: Exchange) => void;

export function createAccessLog({ log, nameOf }: AccessLogOptions): AccessLog {
  return ({ request, response, scope }) => {
    const startedAt = performance.now();
    const { socket, method = '' } = request;
    const bytesBefore = socket.bytesWritten;
    const write = () =>
      log.info('request.answered', {
        method,
        route: routeOf(request.url ?? ''),
        // Node has 200 there before anything is sent.
        status: response.headersSent ? response.statusCode : unanswered,
        durationMs: Math.round(performance.now() - startedAt),
        bytes: socket.bytesWritten - bytesBefore,
        ...(scope.caller === null ? {} : { caller: nameOf(scope.caller) }),
      });
    // When the client leaves, the socket emits the event, outside of the request.
    response.once('close', () => runInScope(scope, write));
  };
}

/** The routes whose whole path is fixed. */
const fixed: ReadonlySet<string> = new Set([
  '/',
  '/graphql',
  '/management/graphql',
  '/schema.graphql',
  '/launch',
  '/webhooks',
  '/intake/pubsub',
  '/health',
  '/ready',
  '/metrics',
  '/demo/token',
]);

/** The route of a URL as in routes.ts: without ids, tickets and query, which may name a person. */
export function routeOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (fixed.has(path)) return path;
  if (path.startsWith('/documents/')) return '/documents/:ticket';
  if (path.startsWith('/widget/')) return '/widget/:file';
  return 'other';
}
