import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Authenticate } from '../caller/authenticate.ts';
import type { TokenLives } from '../caller/token-lives.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type CreateContext, createGraphQLServer, type GraphiQL } from './graphql.ts';
import { createGraphQLRoute } from './graphql-route.ts';
import type { GuardOptions } from './guards.ts';
import { createMask } from './mask.ts';
import { createSockets } from './sockets.ts';
import { createStreams } from './streams.ts';

export interface OperationsOptions {
  readonly createContext: CreateContext;
  readonly authenticate: Authenticate;
  readonly endOf: TokenLives['endOf'];
  readonly guards: GuardOptions;
  readonly isAllowedOrigin: (origin: string) => boolean;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
  /** GraphiQL with these queries filled in; null = no GraphiQL. */
  readonly graphiql: GraphiQL | null;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** All that answers GraphQL, whatever it came over; all of it with the same guards, masking and counts. */
export interface Operations {
  /** Over HTTP and SSE. */
  readonly answer: (request: Request) => Promise<Response>;
  /** Over WebSocket. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes every socket with 1012, so that clients resume elsewhere with their cursor. */
  readonly closeSockets: () => void;
}

export function createOperations(options: OperationsOptions): Operations {
  const { guards, metrics, log, authenticate, endOf, graphiql } = options;
  const { allowances, listed } = guards;
  const mask = createMask(log);
  const runStream = createStreams({ guards, metrics, mask });
  const server = (takesFiles: boolean) => createGraphQLServer({ ...options, mask, runStream, takesFiles });
  const graphql = server(false);
  const { isAllowedOrigin } = options;
  const { upgrade, close } = createSockets({
    ...{ graphql, runStream, mask, authenticate, endOf, allowances, listed, isAllowedOrigin },
    ...{ log, metrics },
  });
  const answer = createGraphQLRoute({
    ...options,
    graphql,
    uploads: server(true),
    allowances,
    hasGraphiQL: graphiql !== null,
  });
  return { answer, upgrade, closeSockets: close };
}
