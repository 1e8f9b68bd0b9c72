import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { type Measure, measureOperation, type VariableValues, whatCounts } from './measure.ts';
import type { Listing } from './trusted-documents.ts';
import { type ValidationOptions, validateDocument } from './validation.ts';
import { countWidth, type WidthCounts } from './width.ts';

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
