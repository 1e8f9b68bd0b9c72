import { createManagementAuthenticate } from '../auth/authenticate.ts';
import { managementSchema } from '../domain/management-schema.ts';
import { DocumentCache } from '../execution/document/prepared-document.ts';
import { createTrustedDocuments } from '../execution/document/trusted-documents.ts';
import { createMask } from '../execution/mask.ts';
import { createRunOperation } from '../execution/run-operation.ts';
import { createRunStream } from '../execution/streams.ts';
import type { GatewayWebhook } from '../graph/context.ts';
import { createGraphQLRoute } from '../http/graphql-route.ts';
import { createGraphQLServer } from '../http/yoga.ts';
import { Upstream } from '../service/client.ts';
import { createContexts } from './contexts.ts';
import type { Core } from './core.ts';
import { observeCalls } from './service.ts';

/** The management interface of the service as one gateway uses it. */
export interface ManagementParts {
  readonly url: string;
  readonly key: string;
  readonly keyHeader: string;
  readonly orgId: string | null;
  readonly gatewayWebhook: GatewayWebhook;
  /** The keys of callers. */
  readonly apiKeys: readonly string[];
}

export interface Management {
  readonly answer: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * The management graph over HTTP: the parts of the other graph, with callers, a schema and a client of its own. Every
 * caller may introspect it and send any document. Nothing is cached. The file is imported when the first request comes.
 */
export function createManagement(core: Core, parts: ManagementParts): Management {
  const { log, metrics, rateLimits } = core;
  const mask = createMask(log);
  const upstream = new Upstream({
    url: parts.url,
    apiKey: parts.key,
    apiKeyHeader: parts.keyHeader,
    usesProxy: core.config.service.usesProxy,
    ...observeCalls(core),
  });
  const contexts = createContexts(core, {
    upstream,
    portalOrigins: [],
    orgId: parts.orgId,
    gatewayWebhook: parts.gatewayWebhook,
    factories: undefined,
  });
  const trustedDocuments = createTrustedDocuments({
    mode: 'off',
    files: [],
    whereBuilt: [],
    onUntrusted: () => {},
  });
  const execution = { rateLimits, trustedDocuments, metrics, mask };
  const graphql = createGraphQLServer({
    schema: managementSchema,
    endpoint: '/management/graphql',
    createContext: contexts.create,
    documents: new DocumentCache({ schema: managementSchema, trustedDocuments, isOpen: true }),
    trustedDocuments,
    runOperation: createRunOperation(execution),
    runStream: createRunStream(execution),
    metrics,
    mask,
    takesFiles: false,
  });
  const answer = createGraphQLRoute({
    graphql,
    uploads: graphql,
    authenticate: createManagementAuthenticate(parts.apiKeys),
    endOf: core.callers.endOf,
    rateLimits,
    stopping: core.stopping.signal,
    graphiql: null,
    isOwnHost: () => false,
  });
  // Without its connection: a caller that another route has found counts for nothing here.
  return { answer: (request) => answer(request, null), close: () => upstream.close() };
}
