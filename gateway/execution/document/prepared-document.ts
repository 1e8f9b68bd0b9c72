import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type Caller, Rights } from '../../auth/rights.ts';
import { Turns } from '../turns.ts';
import {
  countWidth,
  type Measure,
  measureOperation,
  type VariableValues,
  type WidthCounts,
  whatCounts,
} from './measure.ts';
import { parseLimited } from './parse.ts';
import type { ListedOperations, Listing } from './trusted-documents.ts';
import { type ValidationOptions, validateDocument } from './validation.ts';

/** Measures that one document remembers; `first` is seldom any other than a few. */
const maxMeasures = 100;
/** Ids may be sent as numbers: what has many of them comes once. */
const maxKeyLength = 200;

export interface PreparedDocumentParts {
  readonly definitions: readonly DefinitionNode[];
  readonly schema: GraphQLSchema;
  readonly listing: Listing;
}

/**
 * A parsed document with all that is found out about it, each when it is first needed and once: its validation errors, its
 * width, what its operations cost, and whether it is trusted. It is a DocumentNode itself, so that it travels through Yoga,
 * graphql-ws and the executor as it is, and none of them needs a second cache that goes by the document.
 */
export class PreparedDocument implements DocumentNode {
  readonly kind = Kind.DOCUMENT;
  readonly definitions: readonly DefinitionNode[];
  /** Its hash, and whether it is trusted. */
  readonly listing: Listing;
  readonly #schema: GraphQLSchema;
  #errors: readonly GraphQLError[] | null = null;
  #errorsWithoutSchema: readonly GraphQLError[] | null = null;
  #width: WidthCounts | null = null;
  readonly #measures = new Map<string, Measure>();

  constructor({ definitions, schema, listing }: PreparedDocumentParts) {
    this.definitions = definitions;
    this.#schema = schema;
    this.listing = listing;
  }

  /** What GraphQL finds wrong with it. The two kinds of callers are answered differently, so each has its own list. */
  validate(options: ValidationOptions): readonly GraphQLError[] {
    if (options.maySeeSchema) {
      this.#errors ??= validateDocument(this.#schema, this, options);
      return this.#errors;
    }
    this.#errorsWithoutSchema ??= validateDocument(this.#schema, this, options);
    return this.#errorsWithoutSchema;
  }

  /** Its aliases and directives. */
  get width(): WidthCounts {
    this.#width ??= countWidth(this);
    return this.#width;
  }

  /**
   * How much one of its operations asks for, measured once for all requests that differ in nothing that counts: to walk
   * a small document with its arguments takes longer than to run it.
   * @throws where a variable does not fit the argument it is used for
   */
  measure(operation: OperationDefinitionNode, variableValues: VariableValues): Measure {
    const key = `${operation.name?.value ?? ''} ${whatCounts(operation, variableValues)}`;
    const known = this.#measures.get(key);
    if (known !== undefined) return known;
    const measured = measureOperation({ schema: this.#schema, document: this, variableValues }, operation);
    if (this.#measures.size < maxMeasures && key.length <= maxKeyLength) this.#measures.set(key, measured);
    return measured;
  }
}

/**
 * The document of an operation, where GraphQL's types have forgotten that it was prepared.
 * @throws Error for any other: every transport takes its documents from the cache
 */
export function requirePrepared(document: DocumentNode): PreparedDocument {
  if (document instanceof PreparedDocument) return document;
  throw new Error('A document was not prepared.');
}

/**
 * Bounds of the cache. Together with the tokens a document may have (parse.ts): some 100 MB at the very most, and 2 MB as a
 * rule. Characters are counted in UTF-16, of two bytes each.
 */
const limits = { entries: 300, bytesOfText: 2_000_000, bytesOfOneText: 20_000 } as const;

/** A longer text that is not in the cache waits for its turn. Most documents are shorter. */
const shortCharacters = 3000;

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

  readonly #turns = new Turns();

  constructor(options: DocumentCacheOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a document may be prepared: its text, or a request that contains it. Long ones take turns, one in each
   * round of the event loop: parsing and validating one takes milliseconds, and short requests are answered in between.
   * Null when there is nothing to wait for.
   */
  waitForTurn(text: string | Buffer): Promise<void> | null {
    if (text.length <= shortCharacters || (typeof text === 'string' && this.#entries.has(text))) return null;
    return new Promise((resolve) => this.#turns.run(resolve));
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
    return document.validate({ maySeeSchema: this.#options.isOpen || new Rights(caller).has('gateway-key') });
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
