import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Caller } from '../../gateway/auth/rights.ts';
import type { PreparedDocument } from '../../gateway/execution/document/prepared-document.ts';
import { DocumentCache } from '../../gateway/execution/document/prepared-document.ts';
import { createTrustedDocuments } from '../../gateway/execution/document/trusted-documents.ts';

const schema = buildSchema('type Query { viewer: String }');
const server = { kind: 'TEAM' } as const;
const open = () => {
  const trustedDocuments = createTrustedDocuments({
    mode: 'off',
    files: [],
    whereBuilt: [],
    onUntrusted: () => {},
  });
  const documents = new DocumentCache({ schema, trustedDocuments, isOpen: false });
  return {
    prepare: (text: string) => documents.prepare(text, server),
    validate: (document: PreparedDocument, caller: Caller) => documents.validate(document, caller),
  };
};
const textOf = (length: number) => `{ viewer }${' '.repeat(length - '{ viewer }'.length)}`;

test('a prepared document is cached by its text, up to 10,000 characters and 300 of them', () => {
  const { prepare } = open();
  const [longest, tooLong] = [textOf(10_000), textOf(10_001)];
  const first = prepare(longest);
  expect(prepare(longest)).toBe(first);
  expect(prepare(tooLong)).not.toBe(prepare(tooLong));
  for (let index = 0; index < 300; index += 1) prepare(`{ viewer } #${index}`);
  expect(prepare(longest)).not.toBe(first);
  expect(prepare('{ viewer } #299')).toBe(prepare('{ viewer } #299'));
});

test('validation errors are cached with their document, apart for callers who may and may not see the schema', () => {
  const { prepare, validate } = open();
  const document = prepare('{ viewr __schema { __typename } }');
  const [team, viewer] = [{ kind: 'TEAM' } as const, { kind: 'USER' } as never];
  const messagesFor = (caller: typeof team) => validate(document, caller).map(({ message }) => message);
  expect(validate(document, team)).toBe(validate(document, team));
  expect(messagesFor(team)).toEqual([expect.stringContaining('Did you mean "viewer"')]);
  expect(messagesFor(viewer)).toEqual([
    'Cannot query field "viewr" on type "Query".',
    expect.stringContaining('introspection'),
  ]);
});

test('a document that cannot be parsed gets the same error each time', () => {
  const { prepare } = open();
  const received = [1, 2].map(() => {
    try {
      return prepare('{ viewer');
    } catch (error) {
      return error;
    }
  });
  expect(received[0]).toMatchObject({ extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
  expect(received[1]).toBe(received[0]);
});

test('long documents evict others before there are 300 of them: their texts have 2 MB together', () => {
  const { prepare } = open();
  const first = prepare(`${textOf(9990)}#first`);
  for (let index = 0; index < 99; index += 1) prepare(`${textOf(9990)}#${index}`);
  expect(prepare(`${textOf(9990)}#first`)).toBe(first);
  for (let index = 0; index < 100; index += 1) prepare(`${textOf(9990)}#again ${index}`.slice(0, 10_000));
  expect(prepare(`${textOf(9990)}#first`)).not.toBe(first);
});

test('the document that was not asked for longest is evicted', () => {
  const { prepare } = open();
  const [often, seldom] = [prepare('{ viewer } #often'), prepare('{ viewer } #seldom')];
  for (let index = 0; index < 299; index += 1) {
    prepare(`{ viewer } #${index}`);
    expect(prepare('{ viewer } #often')).toBe(often);
  }
  expect(prepare('{ viewer } #seldom')).not.toBe(seldom);
});

test('a document is looked up on the list once, however often it comes, and is checked for each caller', () => {
  const hashes: (string | null)[] = [];
  const list = createTrustedDocuments({
    mode: 'log',
    files: [],
    whereBuilt: [],
    onUntrusted: (hash) => hashes.push(hash),
  });
  const lookedUp: string[] = [];
  const trustedDocuments = {
    ...list,
    lookUp: (text: string) => {
      lookedUp.push(text);
      return list.lookUp(text);
    },
  };
  const documents = new DocumentCache({ schema, trustedDocuments, isOpen: false });
  const viewer = { kind: 'USER' } as never;
  const document = documents.prepare('{ viewer }', server);
  expect(documents.prepare('{ viewer }', viewer)).toBe(document);
  expect(lookedUp).toEqual(['{ viewer }']);
  expect(document.trust).toEqual({
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    isTrusted: false,
    isListed: false,
  });
  expect(trustedDocuments.check(server, document.trust)).toBe(true);
  expect(trustedDocuments.check(viewer, document.trust)).toBe(false);
  expect(hashes).toEqual([document.trust.hash]);
});
