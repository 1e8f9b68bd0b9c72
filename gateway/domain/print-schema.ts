import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './schema.ts';

/** The schema as text, as it is committed in schema.graphql. */
export function printGraph(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
