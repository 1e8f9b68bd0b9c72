import { GraphQLError } from 'graphql';

export interface ResponseErrorParts {
  readonly message: string;
  readonly locations?: GraphQLError['locations'];
  readonly path?: GraphQLError['path'];
  readonly extensions: GraphQLError['extensions'];
}

/**
 * An error as a client reads it. Not made by GraphQLError's constructor, which captures a stack that nobody reads and
 * counts lines: an answer may have a thousand errors, and each was made by the executor already.
 */
export function createResponseError(parts: ResponseErrorParts): GraphQLError {
  const { message, locations, path, extensions } = parts;
  return Object.assign(Object.create(GraphQLError.prototype), {
    name: 'GraphQLError',
    ...{ message, locations, path, extensions },
  });
}

/** Where an error stands in its document, as the lexer has counted it; `locations` of a parsed document's nodes are not set (parse.ts). */
export function locationsOf({ nodes, locations }: GraphQLError): GraphQLError['locations'] {
  const found = nodes?.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = loc.startToken;
    return [{ line, column }];
  });
  return found === undefined || found.length === 0 ? locations : found;
}
