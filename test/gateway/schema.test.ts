import { readFileSync } from 'node:fs';
import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { printGraph } from '../../gateway/domain/print-schema.ts';
import { schema } from '../../gateway/domain/schema.ts';

const ownTypes = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);

/** Everything of a type that a reader meets, by its name. */
function partsOf(type: GraphQLNamedType): readonly (readonly [string, string | null | undefined])[] {
  if (isEnumType(type)) {
    return type.getValues().map((value) => [`${type.name}.${value.name}`, value.description] as const);
  }
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    [`${type.name}.${field.name}`, field.description] as const,
    ...('args' in field
      ? field.args.map(
          (arg: { readonly name: string; readonly description?: string | null | undefined }) =>
            [`${type.name}.${field.name}(${arg.name})`, arg.description] as const,
        )
      : []),
  ]);
}

test('schema.graphql is what the code prints; renew it with: npm run schema', () => {
  expect(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).toBe(printGraph());
});

test('every type, field, argument and enum value has a sentence that describes it', () => {
  const parts = ownTypes.flatMap((type) => [[type.name, type.description] as const, ...partsOf(type)]);
  expect(parts.length).toBeGreaterThan(300);
  const silent = parts.filter(([, description]) => !/^\S.{5,}[.;)]$/s.test(description ?? ''));
  expect(silent).toEqual([]);
});

test('a field that needs a scope of its own says so and can be null', () => {
  const guarded = ownTypes.flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields()).filter(({ extensions }) => extensions.scope !== undefined)
      : [],
  );
  expect(guarded.length).toBeGreaterThan(10);
  for (const { description, extensions, type } of guarded) {
    expect(description).toContain(`Needs the scope ${extensions.scope}`);
    expect(isNonNullType(type)).toBe(false);
  }
});
