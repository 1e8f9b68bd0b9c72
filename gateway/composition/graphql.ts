import type { RequestListener } from 'node:http';
import { keyOf } from '../auth/rate-limits.ts';
import { redeemLaunchTicket } from '../domain/portal/actions.ts';
import { fetchDocument } from '../domain/result/actions.ts';
import { printGraph, schema } from '../domain/schema.ts';
import { DocumentCache } from '../execution/document/prepared-document.ts';
import { createMask } from '../execution/mask.ts';
import { createRunOperation } from '../execution/run-operation.ts';
import { createRunStream } from '../execution/streams.ts';
import { createDirectAnswer, createDirectPath } from '../http/direct-path.ts';
import { createGraphQLRoute } from '../http/graphql-route.ts';
import type { IsOwnHost } from '../http/pages/demo.ts';
import type { DocumentsOptions } from '../http/pages/documents.ts';
import type { GraphiQLPages } from '../http/pages/graphiql.ts';
import type { LaunchOptions } from '../http/pages/launch.ts';
import { createSchemaFile } from '../http/pages/schema-file.ts';
import { shareWholeAnswers, type WholeAnswersOptions } from '../http/whole-answers.ts';
import { createGraphQLServer } from '../http/yoga.ts';
import { Sockets } from '../websocket/server.ts';
import type { Contexts } from './contexts.ts';
import type { Core } from './core.ts';
import type { ServiceClient } from './service.ts';

export interface GraphQLParts {
  readonly contexts: Contexts;
  readonly service: ServiceClient;
  /** GraphiQL, and the schema open to everybody: only for the sandbox. Null = neither. */
  readonly graphiql: GraphiQLPages | null;
  readonly isOwnHost: IsOwnHost;
  readonly answerKey: WholeAnswersOptions['answerKey'];
}

/**
 * Every transport for GraphQL, all with the same guards, masking and counts, and the tickets, which use the same code.
 */
export interface GraphQLTransports
  extends Pick<DocumentsOptions, 'openDocument'>,
    Pick<LaunchOptions, 'openPortal'> {
  /** Over HTTP and SSE. `connection` has the request and the answer of node:http. */
  readonly answer: (request: Request, connection: unknown) => Promise<Response>;
  /** The schema as text. */
  readonly answerSchema: (request: Request) => Promise<Response>;
  /** Answers ordinary JSON requests straight from node:http, and leaves all others to `otherwise`. */
  readonly createDirectPath: (otherwise: RequestListener) => RequestListener;
  /** Over WebSocket. */
  readonly sockets: Sockets;
}

/** Makes every transport. This file imports graphql and Yoga, so it is imported after webhooks are answered. */
export function createGraphQL(core: Core, parts: GraphQLParts): GraphQLTransports {
  const { log, metrics, rateLimits, trustedDocuments, isAllowedOrigin } = core;
  const { contexts, graphiql, isOwnHost } = parts;
  const { authenticate, endOf } = core.callers;
  const mask = createMask(log);
  const isOpen = graphiql !== null;
  const documents = new DocumentCache({ schema, trustedDocuments, isOpen });
  const execution = { rateLimits, trustedDocuments, metrics, mask };
  const runOperation = createRunOperation(execution);
  const runStream = createRunStream(execution);
  const createServer = (takesFiles: boolean) =>
    createGraphQLServer({
      schema,
      createContext: contexts.create,
      documents,
      trustedDocuments,
      runOperation,
      runStream,
      metrics,
      mask,
      takesFiles,
    });
  const graphql = createServer(false);
  const { cache, catchUp, upstream } = parts.service;
  const answerDirectly = shareWholeAnswers(
    {
      cache,
      catchUp,
      documents,
      waitForConnection: (caller) => upstream.waitForConnection(keyOf(caller)),
      metrics,
      charge: rateLimits.charge,
      answerKey: parts.answerKey,
    },
    createDirectAnswer({ schema, createContext: contexts.create, documents, runOperation, mask }),
  );
  return {
    answer: createGraphQLRoute({
      graphql,
      uploads: createServer(true),
      authenticate,
      endOf,
      rateLimits,
      stopping: core.stopping.signal,
      graphiql,
      isOwnHost,
    }),
    answerSchema: createSchemaFile({ print: printGraph, isOpen, authenticate, rateLimits }),
    createDirectPath: (otherwise) =>
      createDirectPath({ authenticate, rateLimits, answerDirectly, isAllowedOrigin, log }, otherwise),
    sockets: new Sockets({
      graphql,
      documents,
      trustedDocuments,
      runStream,
      mask,
      authenticate,
      endOf,
      rateLimits,
      isAllowedOrigin,
      log,
      metrics,
    }),
    ...createTicketRedemption(contexts),
  };
}

/** Redeems tickets: the subject of a ticket is read with the rights of the caller that it was issued to. */
function createTicketRedemption({
  create,
  documentTickets,
  launchTickets,
}: Contexts): Pick<GraphQLTransports, 'openDocument' | 'openPortal'> {
  return {
    openDocument: async (ticket, signal) => {
      const grant = await documentTickets.redeem(ticket);
      if (grant === null) return null;
      const { service } = create({ caller: grant.caller, left: signal, over: signal });
      const file = await fetchDocument(service, grant);
      return file === null ? null : { ...file, kind: grant.kind };
    },
    openPortal: async (posted, signal) => {
      const opened = await redeemLaunchTicket(launchTickets, posted, (caller) =>
        create({ caller, left: signal, over: signal }),
      );
      if (opened.kind === 'PortalUrl') return opened;
      return opened.kind === 'InputRejected' ? 'BAD_REQUEST' : opened.code;
    },
  };
}
