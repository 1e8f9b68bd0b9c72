import fc from 'fast-check';
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  Kind,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { isCompilable } from '../../gateway/edge/compilable.ts';
import { createExecute, type JitMode } from '../../gateway/edge/compiled.ts';

/** A schema with everything that arguments can be: its one field tells what its resolver was given. */
const kind = new GraphQLEnumType({ name: 'Kind', values: { LAUNCH: {}, ORDER: {} } });
const launch = { value: 'LAUNCH' };

/** Read into something that no JSON holds, as dates are. */
const when = new GraphQLScalarType<Date, string>({
  name: 'When',
  coerceInputValue: (value) => new Date(String(value)),
  coerceInputLiteral: (node) => new Date(node.kind === Kind.STRING ? node.value : Number.NaN),
});
const itself = new GraphQLInputObjectType({
  name: 'Itself',
  fields: () => ({ inner: { type: itself } }),
});

function inputOf(name: string, hasDefaults: boolean) {
  const must = hasDefaults ? new GraphQLNonNull(GraphQLInt) : GraphQLInt;
  return new GraphQLInputObjectType({
    name,
    fields: {
      must: { type: must, ...(hasDefaults ? { default: { value: 7 } } : {}) },
      may: { type: GraphQLInt },
      kind: { type: kind, ...(hasDefaults ? { default: launch } : {}) },
      when: { type: when },
    },
  });
}

const plain = inputOf('Plain', false);
const demanding = inputOf('Demanding', true);
const args = {
  first: { type: GraphQLInt, default: { value: 20 } },
  must: { type: new GraphQLNonNull(GraphQLInt), default: { value: 9 } },
  kind: { type: kind, default: launch },
  id: { type: GraphQLID },
  plain: { type: plain },
  demanding: { type: demanding },
  list: { type: new GraphQLList(new GraphQLNonNull(plain)) },
  flags: { type: new GraphQLList(GraphQLBoolean) },
  when: { type: when },
  itself: { type: itself },
};
const told = {
  type: GraphQLString,
  args,
  // With what a date has become, which its JSON would not tell.
  resolve: (_parent: unknown, given: Readonly<Record<string, unknown>>) =>
    JSON.stringify({ ...given, isDate: given.when instanceof Date }),
};
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { told } }),
  mutation: new GraphQLObjectType({ name: 'Mutation', fields: { told } }),
});

const definitions = {
  first: 'Int',
  firstOr: 'Int = 3',
  must: 'Int!',
  mustOr: 'Int! = 4',
  kind: 'Kind',
  id: 'ID',
  plain: 'Plain',
  demanding: 'Demanding',
  list: '[Plain!]',
  flags: '[Boolean]',
  when: 'When',
  whenOr: 'When = "2026-01-01"',
};
type Name = keyof typeof definitions;

/** What may stand for an argument: nothing, a literal, a variable, or an object with a variable in it. */
const choices: Readonly<Record<Exclude<keyof typeof args, 'itself'>, readonly string[]>> = {
  first: ['', '5', 'null', '$first', '$firstOr'],
  must: ['', '5', '$must', '$mustOr'],
  kind: ['', 'ORDER', '$kind'],
  id: ['', '1', '$id', '$id', '"a"'],
  plain: ['', 'null', '{}', '{may: 2, kind: null}', '{may: $first}', '$plain'],
  demanding: ['', '{}', '{must: 2}', '{must: $must}', '$demanding'],
  list: ['', '{may: 1}', '[{must: 1}, {}]', '[{kind: $kind}]', '$list'],
  flags: ['', 'true', '[true, null]', '$flags'],
  when: ['', '', '$when', '$when', '$whenOr', '"2026-01-01"'],
};

const document = fc
  .record(Object.fromEntries(Object.entries(choices).map(([name, some]) => [name, fc.constantFrom(...some)])))
  .map((given) => {
    const written = Object.entries(given).filter(([, value]) => value !== '');
    const inside = written.map(([name, value]) => `${name}: ${value}`).join(', ');
    const used = new Set([...inside.matchAll(/\$(\w+)/g)].map(([, name]) => name));
    const declared = Object.entries(definitions).filter(([name]) => used.has(name));
    const head = declared.map(([name, type]) => `$${name}: ${type}`).join(', ');
    return `query ${head === '' ? '' : `(${head})`} { told ${inside === '' ? '' : `(${inside})`} }`;
  });

const plainValue = fc.record(
  {
    must: fc.constantFrom(1, null),
    may: fc.constantFrom(2, null),
    kind: fc.constantFrom('ORDER', null),
    when: fc.constantFrom('2026-02-02', null),
  },
  { requiredKeys: [] },
);
const values: fc.Arbitrary<Readonly<Partial<Record<Name, unknown>>>> = fc.record(
  {
    first: fc.constantFrom(1, null),
    firstOr: fc.constantFrom(1, null),
    must: fc.constant(6),
    mustOr: fc.constant(6),
    kind: fc.constantFrom('ORDER', null),
    id: fc.constantFrom('x', 8, null),
    plain: fc.oneof(fc.constant(null), plainValue),
    demanding: fc.constantFrom(null, {}, { must: 3 }),
    list: fc.oneof(fc.constant(null), plainValue, fc.array(plainValue, { maxLength: 2 })),
    flags: fc.constantFrom(null, true, [false, null]),
    when: fc.constantFrom(null, '2026-02-02'),
    whenOr: fc.constantFrom(null, '2026-02-02'),
  },
  { requiredKeys: ['must'] },
);

function run(mode: JitMode, text: string, variableValues: Readonly<Record<string, unknown>>) {
  return createExecute(mode)(
    { schema, document: parse(text), variableValues },
    { fields: 1, isOfTeam: true },
  );
}

/** In whatever order its fields were written. */
function readTold({ data, errors }: Awaited<ReturnType<typeof run>>): unknown {
  return errors === undefined ? JSON.parse(String(data?.told)) : errors.map(({ message }) => message);
}

test('what is compiled gives resolvers the arguments that execute gives them', async () => {
  const counts = { compiled: 0, left: 0 };
  const property = fc.asyncProperty(document, values, async (text, variables) => {
    fc.pre(validate(schema, parse(text)).length === 0);
    counts[isCompilable(schema, parse(text), null) ? 'compiled' : 'left'] += 1;
    const [executed, compiled] = await Promise.all([
      run('off', text, variables),
      run('always', text, variables),
    ]);
    expect(readTold(compiled)).toEqual(readTold(executed));
  });
  await fc.assert(property, { numRuns: 1000 });
  expect(counts.compiled).toBeGreaterThan(100);
  expect(counts.left).toBeGreaterThan(100);
});

const spread = 'fragment P on Query { told }';

test.each([
  ['a variable in an object', 'query ($first: Int) { told(plain: {may: $first}) }', {}],
  ['a variable in a list', 'query ($kind: Kind) { told(list: [{kind: $kind}]) }', {}],
  ['a required variable with a default', 'query ($mustOr: Int! = 4) { told(must: $mustOr) }', {}],
  ['a default that must be read', 'query ($whenOr: When = "2026-01-01") { told(when: $whenOr) }', {}],
  [
    'an input object with defaults',
    'query ($demanding: Demanding) { told(demanding: $demanding) }',
    { demanding: {} },
  ],
  [
    '@include on one of two selections',
    `query ($a: Boolean!) { ...P @include(if: $a) ...P } ${spread}`,
    { a: false },
  ],
  ['@skip on a fragment around a field', `{ ...on Query @skip(if: true) { ...P } ...P } ${spread}`, {}],
  ['a text', '{ told(id: "a") }', {}],
  ['a text of several lines', '{ told(id: """a""") }', {}],
  ['a text that the compiler takes for its own mark', `{ told(id: ${mark('globalThis.ran = true')}) }`, {}],
])('%s is left to execute', async (_what, text, variables) => {
  expect(isCompilable(schema, parse(text), null)).toBe(false);
  const [executed, left] = await Promise.all([run('off', text, variables), run('always', text, variables)]);
  expect(readTold(left)).toEqual(readTold(executed));
  expect(left.errors).toBeUndefined();
  expect(globalThis).not.toHaveProperty('ran');
});

/** A text that graphql-jit 0.8.9 writes into its code as code. */
function mark(code: string): string {
  return JSON.stringify(`__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d${code}`);
}

test('an input object that holds itself is left to execute: compiling it has no end', () => {
  const text = 'query ($itself: Itself) { told(itself: $itself) }';
  expect(isCompilable(schema, parse(text), null)).toBe(false);
});

test('a mutation is left to execute', () => {
  expect(isCompilable(schema, parse('mutation { told }'), null)).toBe(false);
});
