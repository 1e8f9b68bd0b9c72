import { GraphQLError } from 'graphql';

export interface ResponseErrorParts {
  readonly message: string;
  readonly locations?: GraphQLError['locations'];
  readonly path?: GraphQLError['path'];
  readonly extensions: GraphQLError['extensions'];
}

/**
 * Makes an error in the form that clients see. It avoids GraphQLError's constructor, which captures a stack and counts
 * lines: an answer may have a thousand errors, and the executor has made each of them already.
 */
export function createResponseError(parts: ResponseErrorParts): GraphQLError {
  const { message, locations, path, extensions } = parts;
  return Object.assign(Object.create(GraphQLError.prototype), {
    name: 'GraphQLError',
    ...{ message, locations, path, extensions },
  });
}

/** Locations of an error, from the lexer's line numbers; `locations` is not set for nodes of a parsed document (parse.ts). */
export function locationsOf({ nodes, locations }: GraphQLError): GraphQLError['locations'] {
  const found = nodes?.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = loc.startToken;
    return [{ line, column }];
  });
  return found === undefined || found.length === 0 ? locations : found;
}
