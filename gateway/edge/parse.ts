import {
  type DocumentNode,
  GraphQLError,
  Lexer,
  type ParseOptions,
  parse,
  Source,
  type Token,
  TokenKind,
} from 'graphql';

/** Lexical tokens of a document: generous for people, out of reach for floods. */
const maxTokens = 1000;

/**
 * Parses a document. The code is set here, where parsing happens for every transport, and not in one transport's own
 * way; the message is ours too, because GraphQL's own quotes the token it stumbled over, which may be somebody's name.
 * @throws GraphQLError GRAPHQL_PARSE_FAILED
 */
export function parseLimited(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const text = typeof source === 'string' ? new Source(source) : source;
    throw new GraphQLError(`Syntax Error: ${describeFault(text, error.positions?.[0] ?? 0)}`, {
      source: error.source ?? null,
      positions: error.positions ?? null,
      extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    });
  }
}

function describeFault(source: Source, position: number): string {
  const { token, count } = findToken(source, position);
  if (count > maxTokens) return `The document has more than ${maxTokens} tokens.`;
  return token === null ? 'Unreadable text.' : `Unexpected ${token.kind}.`;
}

/** The token that stands at a position, and the how-manieth it is; null where the text is no token at all. */
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
