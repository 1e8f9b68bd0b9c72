import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { ActiveTokens } from '../auth/revocations.ts';
import { schema } from '../domain/schema.ts';
import { DocumentCache } from '../execution/document/prepared-document.ts';
import type { GuardOptions } from '../execution/guards.ts';
import { createMask } from '../execution/mask.ts';
import { createRunOperation } from '../execution/run-operation.ts';
import { createStreams } from '../execution/streams.ts';
import { giveWholeAnswers, type WholeAnswersOptions } from '../execution/whole-answers.ts';
import type { Log } from '../log.ts';
import { createSockets } from '../websocket/server.ts';
import { createPlainAnswer } from './direct-answer.ts';
import { createFastLane } from './direct-path.ts';
import { createGraphQLRoute } from './graphql-route.ts';
import type { IsOwnHost } from './own-hosts.ts';
import { type CreateContext, createGraphQLServer, type GraphiQL } from './yoga.ts';

export interface OperationsOptions extends Omit<WholeAnswersOptions, 'charge' | 'waitForTurn'> {
  readonly createContext: CreateContext;
  readonly authenticate: Authenticate;
  readonly endOf: ActiveTokens['endOf'];
  readonly guards: GuardOptions;
  readonly isAllowedOrigin: (origin: string) => boolean;
  /** Everybody may look at the schema, because it is the sandbox's; else servers of the team. */
  readonly isOpen: boolean;
  /** GraphiQL with these queries filled in; null = no GraphiQL. */
  readonly graphiql: GraphiQL | null;
  readonly isOwnHost: IsOwnHost;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** All that answers GraphQL, whatever it came over; all of it with the same guards, masking and counts. */
export interface Operations {
  /** Over HTTP and SSE. `admitted` is whom the fast lane has let in already; null for requests it has not seen. */
  readonly answer: (request: Request, admitted: Caller | null) => Promise<Response>;
  /** Answers ordinary JSON requests straight from node:http, and leaves all others to `otherwise`. */
  readonly takeFastLane: (otherwise: RequestListener) => RequestListener;
  /** Over WebSocket. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes every socket with 1012, so that clients resume elsewhere with their cursor. */
  readonly closeSockets: () => void;
}

export function createOperations(options: OperationsOptions): Operations {
  const { guards, metrics, log, authenticate, endOf, graphiql, isAllowedOrigin } = options;
  const { rateLimits, listed } = guards;
  const mask = createMask(log);
  const documents = new DocumentCache({ schema, listed, isOpen: options.isOpen });
  const runStream = createStreams({ guards, metrics, mask });
  const runOperation = createRunOperation({ guards, metrics, mask });
  const parts = { ...options, mask, documents, listed, runOperation, runStream };
  const server = (takesFiles: boolean) => createGraphQLServer({ ...parts, takesFiles });
  const graphql = server(false);
  const { upgrade, close } = createSockets({
    ...{ graphql, documents, runStream, mask, authenticate, endOf, rateLimits, listed, isAllowedOrigin },
    ...{ log, metrics },
  });
  const answer = createGraphQLRoute({
    ...options,
    graphql,
    uploads: server(true),
    rateLimits,
    hasGraphiQL: graphiql !== null,
  });
  const answerPlainly = giveWholeAnswers(
    {
      ...options,
      charge: rateLimits.charge,
      waitForTurn: (body) => documents.waitForTurn(body),
    },
    createPlainAnswer({ ...parts, schema }),
  );
  const takeFastLane = (otherwise: RequestListener) =>
    createFastLane({ ...options, rateLimits, answerPlainly }, otherwise);
  return { answer, takeFastLane, upgrade, closeSockets: close };
}
