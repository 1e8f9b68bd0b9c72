import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  introspectionFromSchema,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  OverlappingFieldsCanBeMergedRule,
  parse,
  validate,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { expect, test } from 'vitest';
import { managementSchema, printManagementGraph } from '../../gateway/domain/management-schema.ts';
import { printGraph, schema } from '../../gateway/domain/schema.ts';
import { needsOf } from '../../gateway/graph/permissions.ts';
import { needOf } from './scopes/table.ts';

const typesOf = (of: GraphQLSchema) =>
  Object.values(of.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
  );
const ownTypes = typesOf(schema);

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

test('schema.graphql and management.graphql are what the code prints; renew it with: npm run schema', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(read('schema.graphql')).toBe(printGraph());
  expect(read('management.graphql')).toBe(printManagementGraph());
});

test('directives name only places that clients of the specification of 2021 know', () => {
  const known =
    /^(FIELD|FRAGMENT_SPREAD|INLINE_FRAGMENT|(FIELD|ARGUMENT|INPUT_FIELD)_DEFINITION|ENUM_VALUE|SCALAR|INPUT_OBJECT)$/;
  for (const introspection of [schema, managementSchema].map((each) => introspectionFromSchema(each))) {
    const { directives } = introspection.__schema;
    expect(directives.map(({ name }) => name)).toContain('deprecated');
    expect(directives.flatMap(({ locations }) => locations).filter((place) => !known.test(place))).toEqual(
      [],
    );
  }
});

test('every type, field, argument and enum value has a sentence that describes it', () => {
  const types = [...ownTypes, ...typesOf(managementSchema)];
  const parts = types.flatMap((type) => [[type.name, type.description] as const, ...partsOf(type)]);
  expect(parts.length).toBeGreaterThan(300);
  const silent = parts.filter(([, description]) => !/^\S.{5,}[.;)]$/s.test(description ?? ''));
  expect(silent).toEqual([]);
});

/** The fields of all objects, by coordinate. */
const fields = ownTypes.flatMap((type) =>
  isObjectType(type)
    ? Object.values(type.getFields()).map((field) => ({ coordinate: `${type.name}.${field.name}`, field }))
    : [],
);

test('a field with personal data of an object can be null, because it is for some callers only', () => {
  const personal = fields.filter(
    ({ coordinate, field }) =>
      !/^(Query|Mutation|Subscription)\./.test(coordinate) && `${needsOf(field)?.scopes}` === 'read:profile',
  );
  expect(personal.length).toBeGreaterThan(10);
  expect(personal.filter(({ field }) => isNonNullType(field.type))).toEqual([]);
});

test('schema.graphql and management.graphql define each directive that they use and the specification of 2021 does not', () => {
  for (const document of [printGraph(), printManagementGraph()].map((text) => parse(text))) {
    const [used, defined] = [new Set<string>(), new Set(['deprecated', 'specifiedBy'])];
    visit(document, {
      Directive: ({ name }) => void used.add(name.value),
      DirectiveDefinition: ({ name }) => void defined.add(name.value),
    });
    expect([...used.difference(defined)]).toEqual([]);
    expect(used.size).toBeGreaterThan(0);
  }
});

test('schema.graphql says of each field which scopes it needs: in its description and in a directive', () => {
  const printed = buildSchema(printGraph());
  const inDirective = new Map<string, readonly (readonly string[])[]>(
    Object.values(printed.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) =>
        Object.values(type.getFields()).flatMap(({ name, astNode }) => {
          const directive = astNode?.directives?.find((each) => each.name.value === 'requiresScopes');
          const value = directive?.arguments?.[0]?.value;
          return value === undefined
            ? []
            : [
                [
                  `${type.name}.${name}`,
                  valueFromASTUntyped(value) as readonly (readonly string[])[],
                ] as const,
              ];
        }),
      ),
  );
  expect(inDirective.size).toBeGreaterThan(60);
  for (const { coordinate, field } of fields) {
    const scopes = inDirective.get(coordinate) ?? [];
    // The table that the walk over every caller holds the gateway to (scope-walk.test.ts).
    expect([coordinate, scopes[0] ?? []]).toEqual([coordinate, needOf(coordinate).scopes]);
    expect([coordinate, scopes]).toEqual([coordinate, needsOf(field)?.scopes ?? []]);
    for (const scope of scopes.flat()) expect(field.description).toContain(scope);
    if (needOf(coordinate).isForTeam) expect(field.description).toMatch(/Only for gateway keys\.$/);
  }
});

test('every mutation whose result can be a refusal has one for a malformed input', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const lacking = mutations.filter(({ type }) => {
    const result = getNamedType(type);
    return !isUnionType(result) || result.getTypes().every(({ name }) => name !== 'InputRejected');
  });
  // Their results are objects, which cannot become unions without breaking clients (decision 0108).
  expect(lacking.map(({ name }) => name)).toEqual(['createViewerToken', 'revokeViewerTokens']);
});

/** GraphQL's messages about fields that one selection cannot select of all members of a union. */
function conflictsOf(of: GraphQLSchema): readonly string[] {
  const unions = typesOf(of).filter(isUnionType);
  const texts = unions.map((type) => {
    const parts = of.getPossibleTypes(type).map((member) => {
      const asked = Object.values(member.getFields()).map((field) =>
        isCompositeType(getNamedType(field.type)) ? `${field.name} { __typename }` : field.name,
      );
      return `... on ${member.name} { ${asked.join(' ')} }`;
    });
    return [type.name, `fragment Whole on ${type.name} { ${parts.join(' ')} }`] as const;
  });
  return texts.flatMap(([name, text]) =>
    validate(of, parse(text), [OverlappingFieldsCanBeMergedRule]).map(({ message }) => `${name}: ${message}`),
  );
}

test('a field of several members of a result has one type, so that one document can select it of all of them', () => {
  expect([...conflictsOf(schema), ...conflictsOf(managementSchema)]).toEqual([]);
});

test('clients that introspect the schema do not meet the directive', () => {
  expect(schema.getDirective('requiresScopes')).toBeUndefined();
});

test('the management graph has no type of a user, and the other none of an organization', () => {
  expect(managementSchema.getType('User')).toBeUndefined();
  expect(managementSchema.getSubscriptionType()).toBeUndefined();
  expect(schema.getType('Organization')).toBeUndefined();
  expect(schema.getType('ManagementQuery')).toBeUndefined();
});
