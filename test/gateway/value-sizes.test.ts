import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMask } from '../../gateway/execution/mask.ts';
import { maskResult } from '../../gateway/execution/run-operation.ts';
import { createLog } from '../../gateway/log.ts';
import { ways, waysWith } from '../support/ask.ts';
import { type Lab, startLab } from '../support/lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const long = (length: number) => 'x'.repeat(length);
const byClientId = 'query ($id: String!) { userByClientUserId(clientUserId: $id) { id } }';
const filtered = 'query ($filter: OrderFilter) { orders(filter: $filter) { totalCount } }';
const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }';

/** Lists inside lists; made as text, because a sender does not recurse either. */
const nest = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

describe.each(ways)('over %s', (_name, ask) => {
  test.each<readonly [string, string, Readonly<Record<string, unknown>>, string]>([
    ['a text', byClientId, { id: long(16_001) }, 'The variable "$id" is longer than 16000 characters.'],
    [
      'a text inside',
      filtered,
      { filter: { orderIds: ['a', long(16_001)] } },
      'The variable "$filter.orderIds.1" is longer than 16000 characters.',
    ],
    [
      'a text under a key that is no name',
      create,
      { input: { 'Jane Doe': long(16_001) } },
      'The variable "$input.?" is longer than 16000 characters.',
    ],
    [
      'a list',
      filtered,
      { filter: { orderIds: Array.from({ length: 1001 }, () => 'a') } },
      'The variable "$filter.orderIds" has more than 1000 entries.',
    ],
    [
      'a record',
      create,
      { input: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`k${index}`, 1])) },
      'The variable "$input" has more than 1000 entries.',
    ],
  ])('%s that is too large is refused with its place', async (_what, query, variables, message) => {
    const before = lab.sandbox.calls.length;
    const { errors } = await ask(lab, query, variables);
    expect(errors).toEqual([
      {
        message,
        locations: [{ line: 1, column: expect.any(Number) }],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test('lists that are nested too deeply are refused', async () => {
    const { errors } = await ask(lab, filtered, { filter: { orderIds: nest(20_000) } });
    expect(errors).toMatchObject([{ message: expect.stringContaining('is nested deeper than 50 levels.') }]);
  });

  test.each([
    ['a text', `{ users { nodes { id } } userByClientUserId(clientUserId: "${long(16_001)}") { id } }`],
    ['a text of several lines', `{ userByClientUserId(clientUserId: """${long(16_001)}""") { id } }`],
    ['a number for a text', `{ userByClientUserId(clientUserId: 1${'0'.repeat(16_001)}) { id } }`],
  ])('%s in the document that is too long is refused with its place', async (_what, query) => {
    const message = 'The value of "userByClientUserId.clientUserId" is longer than 16000 characters.';
    const { errors } = await ask(lab, query);
    expect(errors).toMatchObject([
      { message, locations: [{ line: 1 }], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  test('the default of a variable is a value of the document', async () => {
    const { errors } = await ask(lab, byClientId.replace('String!', `String! = "${long(16_001)}"`));
    expect(errors).toMatchObject([{ message: 'The value of "$id" is longer than 16000 characters.' }]);
  });

  test('the longest texts are let through to the rules', async () => {
    const query = '{ userByClientUserId(clientUserId: "none") { id } }';
    expect((await ask(lab, byClientId, { id: long(16_000) })).errors).not.toMatchObject([
      { message: expect.stringContaining('longer') },
    ]);
    expect((await ask(lab, query)).errors).toBeUndefined();
  });

  test.each([
    ['50,000 characters', `{ viewer { kind } }${' '.repeat(50_000)}`],
    ['2,000 lines', `{ viewer { kind } }${'\n'.repeat(2000)}`],
    ['2,000 lines that end with carriage returns', `{ viewer { kind } }${'\r'.repeat(2000)}`],
  ])('a document of more than %s is refused before it is parsed', async (_what, query) => {
    const { errors } = await ask(lab, query);
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^The document has more than (50000 characters|2000 lines)\.$/),
        extensions: { code: 'GRAPHQL_PARSE_FAILED' },
      },
    ]);
  });

  test('one of 1,900 lines is accepted, and its errors name the right places', async () => {
    const query = `{${'\r\n'.repeat(1900)} a: labReport(id: "no uuid") {\n id } }`;
    const { errors } = await ask(lab, query);
    expect(errors).toMatchObject([
      { path: ['a'], locations: [{ line: 1901, column: 2 }], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    const unknown = await ask(lab, '{\n viewer {\r  kind """a\nb"""\r\n   nobody } }');
    expect(unknown.errors).toMatchObject([{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }]);
    const invalid = await ask(lab, '{\n viewer {\r  kind\r\n   nobody } }');
    expect(invalid.errors).toMatchObject([{ locations: [{ line: 4, column: 4 }] }]);
  });
});

test('an answer has 1,000 errors at most', () => {
  const mask = createMask(createLog({ level: 'silent' }));
  const errors = Array.from({ length: 1500 }, (_, row) => new GraphQLError('Gone.', { path: ['rows', row] }));
  const masked = maskResult(mask, { data: { rows: [] }, errors });
  expect(masked.data).toEqual({ rows: [] });
  expect(masked.errors).toHaveLength(1000);
  expect(masked.errors?.at(-1)?.path).toEqual(['rows', 999]);
});

test('an unlisted document is refused before it is parsed, where the list is enforced', async () => {
  await using strict = await startLab({ env: { PERSISTED_OPERATIONS: 'enforce' } });
  const token = await strict.tokenFor(strict.sandbox.users()[0]?.userId ?? '');
  for (const [, ask] of waysWith(() => token)) {
    expect((await ask(strict, '{ this is no document')).errors).toMatchObject([
      { extensions: { code: 'OPERATION_NOT_LISTED' } },
    ]);
  }
});
