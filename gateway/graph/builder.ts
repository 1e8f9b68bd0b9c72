import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import type { GraphContext } from './context.ts';
import { usualCost } from './cost.ts';

/** The types that scalars have in resolvers. */
type ScalarTypes = {
  ID: { Input: string; Output: string };
  DateTime: { Input: Date; Output: Date };
  Date: { Input: Date; Output: string };
  URL: { Input: URL; Output: string };
  JSON: { Input: unknown; Output: unknown };
  File: { Input: File; Output: never };
  EventCursor: { Input: string; Output: string };
};

/** The schema under construction. Fields are nullable unless they say otherwise: see the rules in README. */
export const builder = new SchemaBuilder<{ Context: GraphContext; Scalars: ScalarTypes }>({
  plugins: [ComplexityPlugin],
  complexity: { fieldComplexity: usualCost },
});

builder.queryType({ description: 'Everything that can be read.' });
builder.mutationType({ description: 'Everything that can be changed.' });
builder.subscriptionType({ description: 'Everything that can be followed live.' });
