import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  Source,
  type Token,
  TokenKind,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type Caller, Rights } from '../../auth/rights.ts';
import { createResponseError } from '../mask.ts';
import { Turns } from '../scheduler.ts';
import {
  costKey,
  countWidth,
  type Measure,
  measureOperation,
  type VariableValues,
  type WidthCounts,
} from './measure.ts';
import type { Trust, TrustedDocuments } from './trusted-documents.ts';
import { findOversizedLiteral, type ValidationOptions, validateDocument } from './validation.ts';

/** The most measures that one document stores. Few documents are sent with many values of `first`. */
const maxMeasures = 100;
/**
 * The longest key of a measure. Ids can be sent as numbers, so a document with many ids would have another key each
 * time.
 */
const maxKeyLength = 200;

interface PreparedDocumentParts {
  readonly definitions: readonly DefinitionNode[];
  readonly schema: GraphQLSchema;
  readonly trust: Trust;
}

/**
 * A parsed document with its trust, validation errors, width and costs, each computed once, when it is first needed. It is a
 * DocumentNode itself, so that it travels through Yoga, graphql-ws and the executor unchanged, and none of them needs a second
 * cache by document.
 */
export class PreparedDocument implements DocumentNode {
  readonly kind = Kind.DOCUMENT;
  readonly definitions: readonly DefinitionNode[];
  /** The hash of the document, and whether it is trusted. */
  readonly trust: Trust;
  readonly #schema: GraphQLSchema;
  #errors: readonly GraphQLError[] | null = null;
  #errorsWithoutSchema: readonly GraphQLError[] | null = null;
  #width: WidthCounts | null = null;
  readonly #measures = new Map<string, Measure>();

  constructor({ definitions, schema, trust }: PreparedDocumentParts) {
    this.definitions = definitions;
    this.#schema = schema;
    this.trust = trust;
  }

  /** The validation errors of the document. Callers that may not see the schema have a list of their own. */
  validate(options: ValidationOptions): readonly GraphQLError[] {
    if (options.maySeeSchema) {
      this.#errors ??= validateDocument(this.#schema, this, options);
      return this.#errors;
    }
    this.#errorsWithoutSchema ??= validateDocument(this.#schema, this, options);
    return this.#errorsWithoutSchema;
  }

  /** The numbers of aliases and directives. */
  get width(): WidthCounts {
    this.#width ??= countWidth(this);
    return this.#width;
  }

  /**
   * The measure of one of its operations, computed once for all requests with equal `costKey`: walking a small document
   * with its arguments takes longer than running it.
   * @throws where a variable does not fit the argument it is used for
   */
  measure(operation: OperationDefinitionNode, variableValues: VariableValues): Measure {
    const key = `${operation.name?.value ?? ''} ${costKey(operation, variableValues)}`;
    const known = this.#measures.get(key);
    if (known !== undefined) return known;
    const measured = measureOperation({ schema: this.#schema, document: this, variableValues }, operation);
    if (this.#measures.size < maxMeasures && key.length <= maxKeyLength) this.#measures.set(key, measured);
    return measured;
  }
}

/**
 * The prepared document of an operation. GraphQL's types do not show that it was prepared.
 * @throws Error for any other document: every transport takes its documents from the cache
 */
export function requirePrepared(document: DocumentNode): PreparedDocument {
  if (document instanceof PreparedDocument) return document;
  throw new Error('A document was not prepared.');
}

/**
 * The bounds of the cache. With the limits of tokens below it uses about 100 MB at most, and usually 2 MB. A
 * UTF-16 character has two bytes.
 */
const cacheLimits = { entries: 300, bytesOfText: 2_000_000, bytesOfOneText: 20_000 } as const;

/** A longer text that is not in the cache waits for its turn. Most documents are shorter. */
const shortCharacters = 3000;

export interface DocumentCacheOptions {
  readonly schema: GraphQLSchema;
  readonly trustedDocuments: Pick<TrustedDocuments, 'lookUp' | 'require'>;
  /** Everybody may see the schema, because it is the sandbox's; otherwise only gateway keys may. */
  readonly isOpen: boolean;
}

/** A prepared text, or its error: a text that cannot be parsed is sent again as often as any other. */
interface Entry {
  readonly trust: Trust;
  readonly document: PreparedDocument | GraphQLError;
}

/**
 * Prepared documents by their text, for every transport. Yoga's own cache would hold 1,024 documents of any length: one
 * viewer could fill it with 0.6 GB that nobody requests twice.
 */
export class DocumentCache {
  readonly #options: DocumentCacheOptions;
  readonly #entries = new LRUCache<string, Entry>({
    max: cacheLimits.entries,
    maxSize: cacheLimits.bytesOfText,
    // Sizes must not be 0, not even that of an empty text.
    sizeCalculation: (_entry, text) => Math.max(1, text.length * 2),
  });

  readonly #turns = new Turns();

  constructor(options: DocumentCacheOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a document may be prepared, given its text or a request that contains it. Long documents take turns,
   * one in each round of the event loop: preparing one takes milliseconds, and short requests are answered in between.
   * Null when there is nothing to wait for.
   */
  waitForTurn(text: string | Buffer): Promise<void> | null {
    if (text.length <= shortCharacters || (typeof text === 'string' && this.#entries.has(text))) return null;
    return new Promise((resolve) => this.#turns.run(resolve));
  }

  /**
   * The prepared document of a text. A document that this caller may not send is refused before it is parsed.
   * @throws GraphQLError GRAPHQL_PARSE_FAILED or BAD_USER_INPUT, GatewayError OPERATION_NOT_LISTED
   */
  prepare(text: string, caller: Caller): PreparedDocument {
    const { schema, trustedDocuments } = this.#options;
    const known = this.#entries.get(text);
    const trust = known?.trust ?? trustedDocuments.lookUp(text);
    trustedDocuments.require(caller, trust);
    const document = known?.document ?? tryPrepare(text, { schema, trust });
    // A longer text is prepared again for each request, if it is not on the list.
    if (known === undefined && (trust.isListed || text.length * 2 <= cacheLimits.bytesOfOneText))
      this.#entries.set(text, { trust, document });
    if (document instanceof GraphQLError) throw document;
    return document;
  }

  /** The validation errors of a document, as this caller may read them. */
  validate(document: PreparedDocument, caller: Caller): readonly GraphQLError[] {
    return document.validate({ maySeeSchema: this.#options.isOpen || new Rights(caller).has('gateway-key') });
  }
}

function tryPrepare(
  text: string,
  parts: Omit<PreparedDocumentParts, 'definitions'>,
): PreparedDocument | GraphQLError {
  try {
    return new PreparedDocument({
      definitions: parseLimited(text, parts.trust.isListed ? limitsOfListed : limitsOfOthers).definitions,
      ...parts,
    });
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/** Limits of one document, well above those of any document that a person writes. */
const limitsOfOthers = { tokens: 1000, characters: 50_000, lines: 2000 };
type Limits = typeof limitsOfOthers;

/** Limits of one document on the list, which is the operator's. Compilers make one document of all the parts of a page. */
const limitsOfListed: Limits = { tokens: 10_000, characters: 500_000, lines: 20_000 };

/**
 * Parses a document within its limits. Every transport parses here, so all errors have the same code. The message is our
 * own, because the message of graphql-js quotes the unexpected token, which may be somebody's name.
 * @throws GraphQLError GRAPHQL_PARSE_FAILED, or BAD_USER_INPUT if a value in it is too long
 */
function parseLimited(text: string, limits: Limits): DocumentNode {
  const excess = findExcess(text, limits);
  if (excess !== null) throw refuseText(`The document has more than ${excess}.`);
  const document = parseText(text, limits.tokens);
  const tooLong = findOversizedLiteral(document, text);
  if (tooLong !== null) throw tooLong;
  return document;
}

/** Checked before the lexer runs, which takes longer. */
function findExcess(text: string, { characters, lines }: Limits): string | null {
  if (text.length > characters) return `${characters} characters`;
  return hasMoreLines(text, lines) ? `${lines} lines` : null;
}

/** Stops at the first line beyond the limit. */
function hasMoreLines(text: string, most: number): boolean {
  const lineBreak = /\r\n|[\n\r]/g;
  let lines = 1;
  while (lines <= most && lineBreak.test(text)) lines += 1;
  return lines > most;
}

/**
 * graphql-js counts the lines of the source again for each error, although the lexer has counted them. So nodes refer to an
 * empty source, and `locationsOf` (mask.ts) reads the lexer's numbers.
 */
function parseText(text: string, maxTokens: number): DocumentNode {
  const source = new Source(text);
  try {
    const document = parse(source, { maxTokens });
    Object.assign(source, { body: '' });
    return document;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const [position = 0] = error.positions ?? [];
    throw refuseText(`Syntax Error: ${describeFault(source, position, maxTokens)}`, error.locations);
  }
}

function refuseText(message: string, locations?: GraphQLError['locations']): GraphQLError {
  return createResponseError({ message, locations, extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
}

function describeFault(source: Source, position: number, maxTokens: number): string {
  const { token, count } = findToken(source, position);
  if (count > maxTokens) return `The document has more than ${maxTokens} tokens.`;
  return token === null ? 'Unreadable text.' : `Unexpected ${token.kind}.`;
}

/** The token at a position and its number in the document; null when the text there is not a token. */
function findToken(
  source: Source,
  position: number,
): { readonly token: Token | null; readonly count: number } {
  const lexer = new Lexer(source);
  let count = 0;
  try {
    for (;;) {
      const token = lexer.advance();
      count += 1;
      if (token.start >= position || token.kind === TokenKind.EOF) return { token, count };
    }
  } catch {
    return { token: null, count };
  }
}
