import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createExecute, type JitMode } from '../../gateway/edge/compiled.ts';

/** Tells what runs it: GraphQL's own `execute` gives resolvers more than compiled code does. */
const how = new GraphQLObjectType({
  name: 'Query',
  fields: {
    how: {
      type: GraphQLString,
      resolve: (_parent, _args, _context, info) => ('getAbortSignal' in info ? 'executed' : 'compiled'),
    },
    fault: {
      type: GraphQLString,
      resolve: async () => {
        throw new Error('A fault.');
      },
    },
  },
});
const schema = new GraphQLSchema({ query: how });
const ofTeam = { fields: 1, isOfTeam: true };

async function runTimes(times: number, mode: JitMode, runnable = ofTeam) {
  const execute = createExecute(mode);
  const document = parse('query A { how } query B { how }');
  const told: unknown[] = [];
  for (let count = 0; count < times; count += 1) {
    const { data } = await execute({ schema, document, operationName: 'A' }, runnable);
    told.push(data?.how);
    // The compiler is loaded meanwhile.
    await import('graphql-jit');
  }
  const other = await execute({ schema, document, operationName: 'B' }, runnable);
  return { told, other: other.data?.how };
}

test("an operation of the team's that comes often is compiled, and no other of its document", async () => {
  const { told, other } = await runTimes(30, 'hot');
  expect(told.slice(0, 19)).toEqual(Array.from({ length: 19 }, () => 'executed'));
  expect(told.at(-1)).toBe('compiled');
  expect(other).toBe('executed');
});

test.each([
  ['of somebody else', 'hot', { fields: 1, isOfTeam: false }],
  ['with more than 300 fields', 'hot', { fields: 301, isOfTeam: true }],
  ['while it is switched off', 'off', ofTeam],
] as const)('one %s never is', async (_what, mode, runnable) => {
  expect((await runTimes(30, mode, runnable)).told).not.toContain('compiled');
});

test('errors stand at the same place of the document either way', async () => {
  const document = parse('{ how\r\n  a: fault\n\rb: fault }');
  const [executed, compiled] = await Promise.all(
    (['off', 'always'] as const).map((mode) => createExecute(mode)({ schema, document }, ofTeam)),
  );
  expect(compiled?.data).toEqual({ ...executed?.data, how: 'compiled' });
  expect(JSON.stringify(compiled?.errors)).toBe(JSON.stringify(executed?.errors));
  expect(compiled?.errors?.[0]?.originalError).toEqual(new Error('A fault.'));
});
