import { GraphQLError, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../auth/caller.ts';
import { parseLimited } from './parse.ts';
import { PreparedDocument } from './prepared-document.ts';
import type { ListedOperations, Listing } from './trusted-documents.ts';

/**
 * Bounds of the cache. Together with the tokens a document may have (parse.ts): some 100 MB at the very most, and 2 MB as a
 * rule. Characters are counted in UTF-16, of two bytes each.
 */
const limits = { entries: 300, bytesOfText: 2_000_000, bytesOfOneText: 20_000 } as const;

export interface DocumentCacheOptions {
  readonly schema: GraphQLSchema;
  readonly listed: Pick<ListedOperations, 'lookUp' | 'requireListed'>;
  /** Everybody may look at the schema, because it is the sandbox's; else servers of the team. */
  readonly isOpen: boolean;
}

/** What came of preparing a text: a text that cannot be parsed is as likely to come again. */
interface Entry {
  readonly listing: Listing;
  readonly document: PreparedDocument | GraphQLError;
}

/**
 * Prepared documents by their text, for every transport. Yoga's own cache would hold 1,024 of any length: one viewer could
 * fill 0.6 GB with documents that nobody sends twice.
 */
export class DocumentCache {
  readonly #options: DocumentCacheOptions;
  readonly #entries = new LRUCache<string, Entry>({
    max: limits.entries,
    maxSize: limits.bytesOfText,
    // A longer text is prepared anew each time it comes.
    maxEntrySize: limits.bytesOfOneText,
    // No size may be 0, not even that of no text.
    sizeCalculation: (_entry, text) => Math.max(1, text.length * 2),
  });

  constructor(options: DocumentCacheOptions) {
    this.#options = options;
  }

  /**
   * The prepared document of a text. A document that this caller may not send is refused unread.
   * @throws GraphQLError GRAPHQL_PARSE_FAILED or BAD_USER_INPUT, GatewayError OPERATION_NOT_LISTED
   */
  prepare(text: string, caller: Caller): PreparedDocument {
    const { schema, listed } = this.#options;
    const known = this.#entries.get(text);
    const listing = known?.listing ?? listed.lookUp(text);
    listed.requireListed(caller, listing);
    const document = known?.document ?? tryPrepare(text, { schema, listing });
    if (known === undefined) this.#entries.set(text, { listing, document });
    if (document instanceof GraphQLError) throw document;
    return document;
  }

  /** The validation errors of a document, as this caller may read them. */
  validate(document: PreparedDocument, caller: Caller): readonly GraphQLError[] {
    return document.validate({ maySeeSchema: this.#options.isOpen || caller.kind === 'TEAM' });
  }
}

type Surroundings = Pick<PreparedDocument, 'listing'> & { readonly schema: GraphQLSchema };

function tryPrepare(text: string, surroundings: Surroundings): PreparedDocument | GraphQLError {
  try {
    return new PreparedDocument({ definitions: parseLimited(text).definitions, ...surroundings });
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
