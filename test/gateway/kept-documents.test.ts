import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { keepDocuments } from '../../gateway/edge/kept-documents.ts';
import { createListedOperations } from '../../gateway/edge/listed-operations.ts';

const schema = buildSchema('type Query { viewer: String }');
const server = { kind: 'TEAM' } as const;
const open = () => {
  const listed = createListedOperations({ mode: 'off', files: [], whereBuilt: [], onUnlisted: () => {} });
  const { parse, validate } = keepDocuments({ schema, listed, isOpen: false });
  return { parse: (text: string) => parse(text, server), validate };
};
const textOf = (length: number) => `{ viewer }${' '.repeat(length - '{ viewer }'.length)}`;

test('a document is kept for the next time it comes, up to 10,000 characters and 300 of them', () => {
  const { parse } = open();
  const [longest, tooLong] = [textOf(10_000), textOf(10_001)];
  const first = parse(longest);
  expect(parse(longest)).toBe(first);
  expect(parse(tooLong)).not.toBe(parse(tooLong));
  for (let index = 0; index < 300; index += 1) parse(`{ viewer } #${index}`);
  expect(parse(longest)).not.toBe(first);
  expect(parse('{ viewer } #299')).toBe(parse('{ viewer } #299'));
});

test('what is wrong with a document is kept with it, apart for callers who may and may not see the schema', () => {
  const { parse, validate } = open();
  const document = parse('{ viewr __schema { __typename } }');
  const [team, viewer] = [{ kind: 'TEAM' } as const, { kind: 'USER' } as never];
  const messagesFor = (caller: typeof team) => validate(document, caller).map(({ message }) => message);
  expect(validate(document, team)).toBe(validate(document, team));
  expect(messagesFor(team)).toEqual([expect.stringContaining('Did you mean "viewer"')]);
  expect(messagesFor(viewer)).toEqual([
    'Cannot query field "viewr" on type "Query".',
    expect.stringContaining('introspection'),
  ]);
});

test('what cannot be read is told in the same words each time', () => {
  const { parse } = open();
  const told = [1, 2].map(() => {
    try {
      return parse('{ viewer');
    } catch (error) {
      return error;
    }
  });
  expect(told[0]).toMatchObject({ extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
  expect(told[1]).toBe(told[0]);
});
