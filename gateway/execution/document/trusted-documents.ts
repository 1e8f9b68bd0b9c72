import { existsSync } from 'node:fs';
import { z } from 'zod';
import { type Caller, Rights } from '../../auth/rights.ts';
import { GatewayError } from '../../errors.ts';
import { hashDocument, type ListedDocument, readDocumentList } from './document-list.ts';

/** The most documents that are logged. Further ones are only counted. */
const maxReported = 1000;

export interface TrustedDocumentsOptions {
  /** For documents that are not trusted: `enforce` refuses them, `log` logs them. */
  readonly mode: 'off' | 'log' | 'enforce';
  /** Files with lists of documents. A file of `whereBuilt` may be missing before the first build. */
  readonly files: readonly (string | URL)[];
  readonly whereBuilt: readonly (string | URL)[];
  /** Called with a viewer's document that is not trusted: with its hash the first time. */
  readonly onUntrusted: (hash: string | null) => void;
}

/** Whether a document is trusted. This does not depend on its sender. */
export interface Trust {
  /** sha256 of its text; null without a list. */
  readonly hash: string | null;
  /** Whether it is on the list. Without a list every document is trusted. */
  readonly isTrusted: boolean;
  /** Whether the team wrote the names in it: it is on a list. */
  readonly isListed: boolean;
}

/** The documents that viewers may send (persisted operations). */
export interface TrustedDocuments {
  /** Looks a document up by its text, once per document, because the text must be hashed. */
  readonly lookUp: (text: string) => Trust;
  /**
   * Refuses a viewer's document that is not on an enforced list. Call it before the document is parsed.
   * @throws GatewayError OPERATION_NOT_LISTED
   */
  readonly require: (caller: Caller, document: Trust) => void;
  /** @returns whether the team wrote the document: it wrote the list, and its servers may send any document */
  readonly check: (caller: Caller, document: Trust) => boolean;
  /** Counts another use of a document that is not trusted. */
  readonly countUntrusted: () => void;
  /** The document on the list with this id; null if there is none. A request never adds to the list. */
  readonly find: (id: string) => string | null;
  /** Whether documents are usually sent by id: the team has a list of its own, or the list is enforced. */
  readonly expectsIds: boolean;
}

/**
 * Reads the lists of trusted documents. Somebody with the user's browser has its token too. With a list this token can
 * only run the documents of the widget and of the team's own pages.
 * @throws GatewayError CONFIG_INVALID for a file that is not a list, and when every document would be refused
 */
export function createTrustedDocuments(options: TrustedDocumentsOptions): TrustedDocuments {
  if (options.mode === 'off') return noList;
  const built = options.whereBuilt.filter((file) => existsSync(file));
  const documents = [...options.files, ...built].flatMap((file) => readDocumentList(file).documents);
  const { byId, hashes } = indexDocuments(documents);
  if (options.mode === 'enforce' && documents.length === 0) {
    throw new GatewayError(
      'CONFIG_INVALID',
      '- PERSISTED_OPERATIONS=enforce needs a list: build the widget (npm run build) or name a PERSISTED_OPERATIONS_FILE.',
    );
  }
  const report = createReport(options.onUntrusted);
  const check = (caller: Caller, { hash, isTrusted }: Trust) => {
    if (isTrusted || new Rights(caller).has('gateway-key')) return true;
    if (hash !== null) report(hash);
    return false;
  };
  return {
    lookUp: (text) => {
      const hash = hashDocument(text);
      const isListed = hashes.has(hash);
      return { hash, isTrusted: isListed, isListed };
    },
    check,
    require: (caller, document) => {
      if (options.mode === 'enforce' && !check(caller, document)) throw notListed();
    },
    countUntrusted: () => options.onUntrusted(null),
    find: (id) => byId.get(id) ?? null,
    expectsIds: options.mode === 'enforce' || options.files.length > 0,
  };
}

const noList: TrustedDocuments = {
  lookUp: () => unchecked,
  require: () => {},
  check: () => true,
  countUntrusted: () => {},
  find: () => null,
  expectsIds: false,
};

const unchecked: Trust = { hash: null, isTrusted: true, isListed: false };

/** The document or its id, as sent in a request over any transport, unchecked. */
interface Sent {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
}

/**
 * The document that is requested by its id: as `documentId` of the draft for GraphQL over HTTP (`sha256:<hex>`, or the
 * id of the list), or in the form of Apollo's clients (`extensions.persistedQuery.sha256Hash`). Apollo's servers learn
 * a document from its first sender. Here only the lists of the configuration and of the build count.
 * @returns null for a request with a text, or without an id
 * @throws GatewayError PERSISTED_QUERY_NOT_FOUND; PERSISTED_QUERY_NOT_SUPPORTED, after which clients of Apollo's form send only texts
 */
export function findDocument(trustedDocuments: TrustedDocuments, sent: Sent): string | null {
  // A socket's message always has a text; it is empty beside an id.
  if (sent.query !== undefined && sent.query !== null && sent.query !== '') return null;
  const id = sent.documentId ?? readApolloId(sent.extensions);
  if (typeof id !== 'string') return null;
  const document = trustedDocuments.find(id.replace(/^sha256:/, ''));
  if (document !== null) return document;
  if (id === sent.documentId) {
    const message = 'No operation has this id on the list of this gateway.';
    throw new GatewayError('PERSISTED_QUERY_NOT_FOUND', message);
  }
  // Messages of Apollo's protocol: urql and Apollo's native clients compare them, and read no code.
  if (trustedDocuments.expectsIds)
    throw new GatewayError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  throw new GatewayError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
}

const apolloExtension = z.object({ persistedQuery: z.object({ sha256Hash: z.string() }) });

function readApolloId(extensions: unknown): string | null {
  return apolloExtension.safeParse(extensions).data?.persistedQuery.sha256Hash ?? null;
}

/**
 * A document is found by the id of its list and by the sha256 hash of its text. It is trusted by this hash only.
 * @throws GatewayError CONFIG_INVALID where one id names two documents
 */
function indexDocuments(documents: readonly ListedDocument[]) {
  const byId = new Map<string, string>();
  const hashes = new Set<string>();
  for (const { id, text } of documents) {
    const hash = hashDocument(text);
    hashes.add(hash);
    byId.set(hash, text);
    if ((byId.get(id) ?? text) !== text) {
      const message = `- PERSISTED_OPERATIONS_FILE has two documents with the id ${id}.`;
      throw new GatewayError('CONFIG_INVALID', message);
    }
    byId.set(id, text);
  }
  return { byId, hashes };
}

/** Reports each document once, and only a limited number of them, because a caller can invent any number. */
function createReport(onUntrusted: TrustedDocumentsOptions['onUntrusted']): (hash: string) => void {
  const reported = new Set<string>();
  return (hash) => {
    const isNew = !reported.has(hash) && reported.size < maxReported;
    if (isNew) reported.add(hash);
    onUntrusted(isNew ? hash : null);
  };
}

function notListed(): GatewayError {
  const message = 'This gateway takes from viewers only the operations on its list.';
  return new GatewayError('OPERATION_NOT_LISTED', message);
}
