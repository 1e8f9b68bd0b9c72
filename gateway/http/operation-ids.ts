import type { Plugin } from 'graphql-yoga';
import { GatewayError } from '../errors.ts';
import type { ListedOperations } from '../execution/document/trusted-documents.ts';

/**
 * Operations that are asked for by the hash of their text, which is on the list: as `documentId` of the draft for GraphQL
 * over HTTP (`sha256:<hex>`), or as Apollo's clients do it (`extensions.persistedQuery.sha256Hash`). Apollo's servers
 * learn a document from whoever sends it first; here only lists of the configuration and of the build count.
 */
export function useOperationIds(listed: ListedOperations): Plugin {
  return {
    onParams: ({ params, request, setParams }) => {
      // Batches are refused after this, and so is what is no record.
      if (!isRecord(params)) return;
      const { documentId = readParameter(request), ...rest } = params;
      const query = findDocument(listed, { ...rest, documentId });
      if (query !== null) setParams({ ...rest, query });
    },
  };
}

/** The document or its id, as sent in a request over any transport, unchecked. */
interface Sent {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
}

/**
 * The document that is asked for by its id; null where its text was sent, or no id.
 * @throws GatewayError PERSISTED_QUERY_NOT_FOUND
 */
export function findDocument(listed: ListedOperations, sent: Sent): string | null {
  // A socket's message always has a text; it is empty beside an id.
  if (sent.query !== undefined && sent.query !== null && sent.query !== '') return null;
  const id = sent.documentId ?? readApolloId(sent.extensions);
  if (typeof id !== 'string') return null;
  const document = listed.find(id.replace(/^sha256:/, ''));
  if (document !== null) return document;
  const message = 'No operation has this id on the list of this gateway.';
  throw new GatewayError('PERSISTED_QUERY_NOT_FOUND', message);
}

function readApolloId(extensions: unknown): unknown {
  const persisted = isRecord(extensions) ? extensions.persistedQuery : null;
  return isRecord(persisted) ? persisted.sha256Hash : null;
}

/** Yoga reads the parameters of a GET that it knows. */
function readParameter({ method, url }: Request): string | undefined {
  if (method !== 'GET') return undefined;
  return new URL(url).searchParams.get('documentId') ?? undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
