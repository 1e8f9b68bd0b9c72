import { print } from './print.ts';

/** What code generators attach to a document, so that its result and its variables are typed. */
interface Typed<Result, Variables> {
  readonly __apiType?: (variables: Variables) => Result;
}

/** A parsed document: of graphql, graphql-tag or gql.tada, or a TypedDocumentNode of codegen. */
export interface ParsedDocument<Result, Variables> extends Typed<Result, Variables> {
  readonly kind: string;
  readonly definitions: readonly object[];
}

/** A document as text with types: a TypedDocumentString of codegen. */
export interface TextDocument<Result, Variables> extends Typed<Result, Variables> {
  readonly length: number;
  readonly toString: () => string;
}

/** A GraphQL document in any of its forms. Plain text has no types: name them yourself, as in `query<Result>(text)`. */
export type GraphQLDocument<Result, Variables> =
  | string
  | ParsedDocument<Result, Variables>
  | TextDocument<Result, Variables>;

/** The text of a document in any of its forms. */
export function toText(document: GraphQLDocument<unknown, never>): string {
  return Object(document).definitions ? print(document) : String(document);
}
