import type { RequestListener } from 'node:http';
import type { Caller } from '../auth/rights.ts';
import { schema } from '../domain/schema.ts';
import { DocumentCache } from '../execution/document/prepared-document.ts';
import { createMask, type Mask } from '../execution/mask.ts';
import { createRunOperation, type RunOperation } from '../execution/run-operation.ts';
import { createStreams, type RunStream } from '../execution/streams.ts';
import { giveWholeAnswers, type WholeAnswersOptions } from '../execution/whole-answers.ts';
import { type AnswerPlainly, createPlainAnswer } from '../http/direct-answer.ts';
import { createFastLane } from '../http/direct-path.ts';
import { createGraphQLRoute } from '../http/graphql-route.ts';
import type { IsOwnHost } from '../http/own-hosts.ts';
import { type CreateContext, createGraphQLServer, type GraphiQL } from '../http/yoga.ts';
import { Sockets } from '../websocket/server.ts';
import type { Core } from './core.ts';
import type { ServiceClient } from './service-client.ts';

export interface GraphQLParts {
  readonly createContext: CreateContext;
  readonly service: ServiceClient;
  /** GraphiQL with these queries filled in, and the schema open to everybody: only for the sandbox. Null = neither. */
  readonly graphiql: GraphiQL | null;
  readonly isOwnHost: IsOwnHost;
  readonly answerKey: WholeAnswersOptions['answerKey'];
}

/** All that answers GraphQL, over every transport, with the same guards, masking and counts. */
export interface GraphQLTransports {
  /** Over HTTP and SSE. `admitted` is the caller that the direct path has let in; null for requests it has not seen. */
  readonly answer: (request: Request, admitted: Caller | null) => Promise<Response>;
  /** Answers ordinary JSON requests straight from node:http, and leaves all others to `otherwise`. */
  readonly createDirectPath: (otherwise: RequestListener) => RequestListener;
  /** Over WebSocket. */
  readonly sockets: Sockets;
}

/** How operations are executed, the same over every transport. */
interface Execution {
  readonly documents: DocumentCache;
  readonly mask: Mask;
  readonly runOperation: RunOperation;
  readonly runStream: RunStream;
}

function createExecution({ log, metrics, rateLimits, listed }: Core, isOpen: boolean): Execution {
  const mask = createMask(log);
  const guards = { rateLimits, listed };
  return {
    documents: new DocumentCache({ schema, listed, isOpen }),
    mask,
    runOperation: createRunOperation({ guards, metrics, mask }),
    runStream: createStreams({ guards, metrics, mask }),
  };
}

/** Makes every transport. This file imports graphql and Yoga, so it is imported after webhooks are answered. */
export function createGraphQL(core: Core, parts: GraphQLParts): GraphQLTransports {
  const { log, metrics, callers, rateLimits, listed, isAllowedOrigin } = core;
  const { createContext, graphiql, isOwnHost } = parts;
  const { authenticate, endOf } = callers;
  const execution = createExecution(core, graphiql !== null);
  const { documents, mask, runStream } = execution;
  const yoga = { ...execution, schema, createContext, metrics, listed, graphiql };
  const graphql = createGraphQLServer({ ...yoga, takesFiles: false });
  const uploads = createGraphQLServer({ ...yoga, takesFiles: true });
  const answerPlainly = createDirectAnswers(core, parts, execution);
  const sockets = new Sockets({
    graphql,
    documents,
    runStream,
    mask,
    authenticate,
    endOf,
    rateLimits,
    listed,
    isAllowedOrigin,
    log,
    metrics,
  });
  const answer = createGraphQLRoute({
    graphql,
    uploads,
    authenticate,
    endOf,
    rateLimits,
    stopping: core.stopping.signal,
    hasGraphiQL: graphiql !== null,
    isOwnHost,
  });
  const createDirectPath = (otherwise: RequestListener) =>
    createFastLane({ authenticate, rateLimits, answerPlainly, isAllowedOrigin, log }, otherwise);
  return { answer, createDirectPath, sockets };
}

/** Answers of the direct path, through the cache of whole answers. */
function createDirectAnswers(core: Core, parts: GraphQLParts, execution: Execution): AnswerPlainly {
  const { cache, catchUp } = parts.service;
  const { documents, runOperation, mask } = execution;
  const { createContext, answerKey } = parts;
  const { metrics, rateLimits } = core;
  return giveWholeAnswers(
    {
      cache,
      catchUp,
      metrics,
      charge: rateLimits.charge,
      waitForTurn: (body) => documents.waitForTurn(body),
      answerKey,
    },
    createPlainAnswer({ schema, documents, createContext, runOperation, mask }),
  );
}
