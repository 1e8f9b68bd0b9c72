import { readFileSync } from 'node:fs';
import {
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  parse,
  visit,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { compareGraphs, readReason, readRemovalDate } from './schema/compare.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const lists = [
  {
    client: 'web',
    version: '1.4.0',
    documents: [
      { id: '1', text: 'query ReadOrders { orders(first: 1) { nodes { id createdAt } } }' },
      { id: '2', text: 'query ReadViewer { viewer { kind } }' },
    ],
  },
  { client: 'app', version: null, documents: [{ id: '3', text: 'query { viewer { kind scopes } }' }] },
];

/** The change as text: what is replaced in the first schema gives the second. */
const compare = (before: string, after: string, today = '2027-01-01') =>
  compareGraphs({ before, after }, { today, lists });

const small = `
directive @unused on FIELD
type Query { order(id: ID!, full: Boolean): Order viewer: Viewer! orders(first: Int): Orders! }
type Viewer { kind: Kind! scopes: [String!]! }
enum Kind { USER TEAM }
type Orders { nodes: [Order!]! }
type Order implements Named { id: ID! name: String createdAt: String! state: String @deprecated(reason: "Use status. Removed after 2027-06-01.") lab: Lab @deprecated(reason: "Removed after 2027-06-01.") }
type Lab { id: ID! }
interface Named { name: String }
input OrderFilter { name: String! }
type Mutation { cancelOrder(id: ID!, filter: OrderFilter): Order }
`;

const planted = [
  ['a field is removed', 'createdAt: String! ', '', 'breaking'],
  ['a field may be null', 'viewer: Viewer!', 'viewer: Viewer', 'breaking'],
  ['an enum value is removed', 'USER TEAM', 'USER', 'breaking'],
  ['an argument that is required is added', 'orders(first: Int)', 'orders(first: Int, of: ID!)', 'breaking'],
  ['an input field becomes required', 'full: Boolean', 'full: Boolean!', 'breaking'],
  ['an interface is no longer implemented', 'Order implements Named', 'Order', 'breaking'],
  ['an enum value is added', 'USER TEAM', 'USER TEAM OTHER', 'dangerous'],
  ['an optional argument is added', 'orders(first: Int)', 'orders(first: Int, of: ID)', 'dangerous'],
  ['a field is added', 'type Viewer {', 'type Viewer { id: ID', 'safe'],
  ['a field can no longer be null', 'name: String createdAt', 'name: String! createdAt', 'safe'],
  ['a field is deprecated', 'createdAt: String!', 'createdAt: String! @deprecated(reason: "No.")', 'safe'],
] as const;

describe('a change of the graph', () => {
  test.each(planted)('where %s', async (_what, from, to, level) => {
    const { changes } = await compare(small, small.replace(from, to));

    expect(changes[0]).toMatchObject({ level, isDue: false });
  });

  test('names the operations of the clients that it breaks', async () => {
    const after = small.replace('createdAt: String! ', '').replace('scopes: [String!]!', 'scopes: [String!]');

    expect((await compare(small, after)).broken).toEqual([
      {
        client: 'web',
        version: '1.4.0',
        operation: 'ReadOrders',
        reason: 'Cannot query field "createdAt" on type "Order".',
      },
      {
        client: 'app',
        version: null,
        operation: '(without a name)',
        reason: "Field 'Viewer.scopes' changed type from '[String!]!' to '[String!]'",
      },
    ]);
  });

  test('may remove a deprecated field, and a type that only this field used, when the date has passed', async () => {
    const after = small.replace(/state: .*2027-06-01\."\) /, '').replace('type Lab { id: ID! }', '');
    const breaking = async (today: string) => {
      const { changes } = await compare(small, after, today);
      return changes.filter(({ level }) => level === 'breaking').map(({ path, isDue }) => [path, isDue]);
    };
    const paths = ['Lab', 'Order.lab', 'Order.state'];

    expect((await breaking('2027-06-01')).toSorted()).toEqual(paths.map((path) => [path, false]));
    expect((await breaking('2027-06-02')).toSorted()).toEqual(paths.map((path) => [path, true]));
  });
});

test('every deprecation says until when the part stays', () => {
  const undated: string[] = [];
  const check = (node: InputValueDefinitionNode | FieldDefinitionNode | EnumValueDefinitionNode) => {
    const reason = readReason(node);
    if (reason !== null && readRemovalDate(reason) === null) undated.push(node.name.value);
  };
  visit(parse(read('schema.graphql')), {
    FieldDefinition: check,
    InputValueDefinition: check,
    EnumValueDefinition: check,
  });

  expect(undated).toEqual([]);
});

test('the graph breaks nothing that the last release had, unless its deprecation is over', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const { changes } = await compareGraphs(
    { before: read('docs/published.graphql'), after: read('schema.graphql') },
    { today, lists: [] },
  );

  expect(changes.filter(({ level, isDue }) => level === 'breaking' && !isDue)).toEqual([]);
});
