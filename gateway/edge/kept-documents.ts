import type { DocumentNode } from 'graphql';
import { createLRUCache } from 'graphql-yoga';

/** Together with the tokens a document may have (parse.ts): some 100 MB at the very most, and 2 MB as a rule. */
const limits = { documents: 300, length: 10_000 } as const;

/**
 * Documents that were read are kept for the next time they come, and so is what was wrong with them. Yoga itself would
 * keep 1,024 of any length: one viewer could fill 0.6 GB with documents that nobody sends twice.
 */
export function keepDocuments() {
  return { documentCache: keepShort<DocumentNode>(), errorCache: keepShort<NonNullable<unknown>>() };
}

function keepShort<Value extends NonNullable<unknown>>() {
  const kept = createLRUCache<Value>({ max: limits.documents });
  return {
    get: (document: string) => kept.get(document),
    set: (document: string, value: Value) => {
      if (document.length <= limits.length) kept.set(document, value);
    },
  };
}
