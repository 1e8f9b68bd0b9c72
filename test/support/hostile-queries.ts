/** One request that is made to hurt. */
export interface HostileQuery {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const times = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

/** Lists inside lists, made as text, because an attacker does not recurse either. */
function nestLists(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}

const orderById = 'query ($id: ID!) { order(id: $id) { id } }';
const ordersByActivation =
  'query ($kinds: [OrderActivation!]) { orders(filter: { activations: $kinds }) { totalCount } }';

/** What floods look like: each is small enough to be read, and none may reach the service. */
export const hostileQueries: readonly HostileQuery[] = [
  { name: '10,000 levels deep', query: `${'{a'.repeat(10_000)}${'}'.repeat(10_000)}` },
  {
    name: '30 levels deep, of real fields',
    query: `{ users { nodes { ${'orders { nodes { user { '.repeat(9)} id ${'} } }'.repeat(9)} } } }`,
  },
  { name: '20,000 lists inside lists, as a literal', query: `{ order(id: ${'['.repeat(20_000)}` },
  { name: '20,000 lists inside lists, as an id', query: orderById, variables: { id: nestLists(20_000) } },
  {
    name: '20,000 lists inside lists, as a list',
    query: ordersByActivation,
    variables: { kinds: nestLists(20_000) },
  },
  {
    name: '8,000 unknown keys in one record',
    query: 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }',
    variables: { input: Object.fromEntries(Array.from({ length: 8000 }, (_, index) => [`k${index}`, 1])) },
  },
  {
    name: '45,000 numbers where words belong',
    query: ordersByActivation,
    variables: { kinds: Array.from({ length: 45_000 }, () => 1) },
  },
  {
    name: '2,000 fragments',
    query: `{ ...f0 } ${times(2000, (index) => `fragment f${index} on Query { ...f${index + 1} }`)}`,
  },
  {
    name: '75 fragments, each twice in the one before',
    query: `{ ...f0 } ${times(75, (index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`)}
      fragment f75 on Query { viewer { kind } }`,
  },
  {
    name: '20 fragments, each twice in the one before, under other names',
    query: `{ users { nodes { ...f0 } } } ${times(
      20,
      (index) => `fragment f${index} on User {
        a${index}: orders { nodes { user { ...f${index + 1} } } }
        b${index}: orders { nodes { user { ...f${index + 1} } } }
      }`,
    )} fragment f20 on User { id }`,
  },
  {
    name: 'fragments in a circle',
    query: '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
  },
  { name: '3,000 aliases', query: `{ ${times(3000, (index) => `a${index}: viewer { kind }`)} }` },
  { name: '160 aliases', query: `{ ${times(160, (index) => `a${index}: viewer { kind }`)} }` },
  { name: 'one field 900 times', query: `{ viewer { ${times(900, () => 'kind')} } }` },
  { name: '3,000 directives', query: `{ viewer ${times(3000, () => '@include(if: true)')} { kind } }` },
  {
    name: '100 directives on 100 fields',
    query: `{ viewer { ${times(100, () => 'kind @include(if: true)')} } }`,
  },
  { name: '400 unknown directives', query: `{ viewer ${times(400, () => '@a')} { kind } }` },
  { name: '200 unknown fields', query: `{ ${times(200, (index) => `unknown${index} { a }`)} }` },
  {
    name: 'a product of rows',
    query: '{ users(first: 100) { nodes { orders(first: 100) { nodes { user { id } } } } } }',
  },
  { name: '100 fields at the root', query: `{ ${times(100, (index) => `a${index}: labs { name }`)} }` },
];
