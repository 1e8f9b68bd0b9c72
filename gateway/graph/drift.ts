import {
  defaultFieldResolver,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isObjectType,
} from 'graphql';
import type { GraphContext } from './context.ts';

type Field = GraphQLField<unknown, GraphContext>;
type Resolve = (parent: unknown, args: unknown, context: GraphContext, info: GraphQLResolveInfo) => unknown;

/**
 * Makes every open enum field `x` tell its context of values that it does not know. What was sent is its sibling
 * `xRaw`, the other half of the pair that `openEnum` asks for; a field without one says it in
 * `extensions: { sentAs }`.
 */
export function tellUnknowns(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const values = getNamedType(field.type);
      const sentAs = isEnumType(values) ? findSentAs(type, field) : null;
      if (isEnumType(values) && sentAs !== null) wrap(`${type.name}.${field.name}`, field, values, sentAs);
    }
  }
  return schema;
}

/** Null for an enum that the gateway computes: it is never unknown. */
function findSentAs(type: GraphQLObjectType, field: Field): Resolve | null {
  const { sentAs } = field.extensions;
  if (typeof sentAs === 'function') return (parent) => sentAs(parent);
  const sibling = type.getFields()[`${field.name}Raw`];
  if (sibling === undefined) return null;
  return sibling.resolve ?? ((parent) => (isRecord(parent) ? parent[sibling.name] : null));
}

function wrap(name: string, field: Field, values: GraphQLEnumType, sentAs: Resolve): void {
  const resolve: Resolve = field.resolve ?? defaultFieldResolver;
  // There UNKNOWN is the gateway's own value for unknown ones; everywhere else it is a value of the service.
  const isComputed = typeof field.extensions.sentAs === 'function';
  const silent: unknown = values.extensions.saysNothing;
  const saysNothing = (text: string) => Array.isArray(silent) && silent.includes(text.toLowerCase());
  const isValue = (text: unknown): text is string =>
    typeof text === 'string' && text !== '' && !saysNothing(text);
  field.resolve = (parent, args, context, info) => {
    const shown = resolve(parent, args, context, info);
    const isUnknown = shown === null || shown === undefined || (isComputed && shown === 'UNKNOWN');
    if (!isUnknown && !Array.isArray(shown)) return shown;
    const sent = sentAs(parent, args, context, info);
    const texts: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
    if (Array.isArray(shown) && shown.length === texts.length) return shown;
    for (const text of texts.filter(isValue)) {
      if (!Array.isArray(shown) || values.getValue(toValue(text)) === undefined)
        context.onUnknown(name, text);
    }
    return shown;
  };
}

function toValue(text: string): string {
  return text.toUpperCase().replaceAll('-', '_');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
