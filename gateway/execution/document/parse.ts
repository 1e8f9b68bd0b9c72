import { type DocumentNode, GraphQLError, Lexer, parse, Source, type Token, TokenKind } from 'graphql';
import { createResponseError } from './response-error.ts';
import { findOversizedLiteral } from './value-sizes.ts';

/** Limits of one document, well above those that people write. */
const limits = { tokens: 1000, characters: 50_000, lines: 2000 } as const;

/**
 * Parses a document within its limits. Every transport parses here, so all errors have the same code. The message is our
 * own, because the message of graphql-js quotes the unexpected token, which may be somebody's name.
 * @throws GraphQLError GRAPHQL_PARSE_FAILED, or BAD_USER_INPUT if a value in it is too long
 */
export function parseLimited(text: string): DocumentNode {
  const excess = findExcess(text);
  if (excess !== null) throw refuseText(`The document has more than ${excess}.`);
  const document = parseText(text);
  const tooLong = findOversizedLiteral(document, text);
  if (tooLong !== null) throw tooLong;
  return document;
}

/** Checked before the lexer runs, which takes longer. */
function findExcess(text: string): string | null {
  if (text.length > limits.characters) return `${limits.characters} characters`;
  return hasMoreLines(text, limits.lines) ? `${limits.lines} lines` : null;
}

/** Stops at the first line too many. */
function hasMoreLines(text: string, most: number): boolean {
  const lineBreak = /\r\n|[\n\r]/g;
  let lines = 1;
  while (lines <= most && lineBreak.test(text)) lines += 1;
  return lines > most;
}

/**
 * graphql-js counts the lines of the source again for each error, although the lexer has counted them. So nodes refer to an
 * empty source, and `locationsOf` (response-error.ts) reads the lexer's numbers.
 */
function parseText(text: string): DocumentNode {
  const source = new Source(text);
  try {
    const document = parse(source, { maxTokens: limits.tokens });
    Object.assign(source, { body: '' });
    return document;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const [position = 0] = error.positions ?? [];
    throw refuseText(`Syntax Error: ${describeFault(source, position)}`, error.locations);
  }
}

function refuseText(message: string, locations?: GraphQLError['locations']): GraphQLError {
  return createResponseError({ message, locations, extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
}

function describeFault(source: Source, position: number): string {
  const { token, count } = findToken(source, position);
  if (count > limits.tokens) return `The document has more than ${limits.tokens} tokens.`;
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
