import type { GraphQLField } from 'graphql';

/**
 * What an expected call to the service costs, in the measure of execution/guards.ts, where a plain field costs 1. A field
 * that asks the service once for each row it stands in costs one.
 */
export const upstreamCallCost = 100;

/** What a field at the root is expected to ask of the service when it does not say so itself. */
const callsOfRoot: Readonly<Record<string, number>> = {
  Query: 1,
  // It reads what it is about, writes, and reads what became of it.
  Mutation: 3,
  Subscription: 1,
};

/** The cost of a field that names none. */
export function usualCost(_args: unknown, _context: unknown, { parentType }: GraphQLField) {
  const calls = callsOfRoot[parentType?.name ?? ''];
  return { field: calls === undefined ? 1 : calls * upstreamCallCost, multiplier: 1 };
}
