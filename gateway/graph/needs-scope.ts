import { defaultFieldResolver, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import { type Scope, scopes } from '../auth/rights.ts';
import type { GraphContext } from './context.ts';

/**
 * Declares the scope that viewer tokens need for a field in addition to that of its read:
 * `extensions: needsScope('read:profile')`. Without the scope the field is null with FORBIDDEN, like any refused read. Such
 * a field is nullable, and its description names the scope (tested).
 * @param when the parents that need the scope; default all
 */
export function needsScope<Parent>(scope: Scope, when?: (parent: Parent) => boolean) {
  return { scope, ...(when === undefined ? {} : { when }) };
}

/** Makes every field that declares a scope check it before it resolves. */
export function requireScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const scope = scopes.find((each) => each === field.extensions.scope);
      if (scope !== undefined) guard(field, scope);
    }
  }
  return schema;
}

function guard(field: GraphQLField<unknown, GraphContext>, scope: Scope): void {
  const { when } = field.extensions;
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (parent, args, context, info) => {
    if (typeof when !== 'function' || when(parent)) context.service.rights.require(scope);
    return resolve(parent, args, context, info);
  };
}
