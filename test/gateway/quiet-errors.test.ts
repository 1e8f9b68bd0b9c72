import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ways } from '../support/ask.ts';
import { type Lab, startLab } from '../support/lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const canary = 'CANARY-Jane-Doe';
const number = 271_828_182_845;
const address = { firstLine: canary, city: canary, state: 'AZ', zip: '85004', country: 'US' };
const person = {
  userId: 'd827cf70-60e8-4433-9f54-fbaf895589f9',
  firstName: canary,
  lastName: canary,
  email: canary,
  phoneNumber: canary,
  gender: 'female',
  dob: '1990-01-01',
  address,
};
const update =
  'mutation ($input: UpdateDemographicsInput!) { updateDemographics(input: $input) { __typename } }';
const orders = 'query ($filter: OrderFilter) { orders(filter: $filter) { totalCount } }';
const undo = 'mutation ($by: UserReference!) { undoUserDeletion(by: $by) { __typename } }';
const subscribe = 'subscription ($id: ID!) { orderUpdates(orderId: $id) { cursor } }';

describe.each(ways)('over %s no message quotes a value', (_name, ask) => {
  test.each<readonly [string, string, Readonly<Record<string, unknown>>, RegExp]>([
    ['of a record with an unknown field', update, { input: { ...person, shoe: canary } }, /\$input.*"shoe"/],
    [
      'of a nested record',
      update,
      { input: { ...person, address: { ...address, door: 1 } } },
      /address.*door/,
    ],
    ['of a record that lacks a field', update, { input: { firstName: canary } }, /\$input.*"lastName"/],
    ['under a key that is no name', update, { input: { ...person, [`${canary} 7`]: 1 } }, /\$input/],
    ['of text where a record belongs', update, { input: canary }, /\$input.*UpdateDemographicsInput/],
    ['of a wrong date', update, { input: { ...person, dob: canary } }, /\$input.*dob.*Date/],
    [
      'of a record where text belongs',
      update,
      { input: { ...person, zip: 1, email: { to: canary } } },
      /email/,
    ],
    ['of no word of an enum', update, { input: { ...person, race: canary } }, /race.*Race/],
    ['of a number where an enum belongs', update, { input: { ...person, race: number } }, /race.*Race/],
    ['of a number where text belongs', update, { input: { ...person, lastName: number } }, /lastName/],
    ['of text where a list of ids belongs', orders, { filter: { orderIds: [[canary]] } }, /orderIds/],
    ['of a wrong instant', orders, { filter: { createdAfter: canary } }, /createdAfter.*DateTime/],
    ['of two ways to name one', undo, { by: { id: canary, clientUserId: canary } }, /UserReference/],
    ['of nothing to name one by', undo, { by: {} }, /UserReference/],
    ['of a wrong number', 'query ($n: Int) { users(first: $n) { totalCount } }', { n: canary }, /\$n.*Int/],
    [
      'of a number too large',
      'query ($n: Int) { users(first: $n) { totalCount } }',
      { n: number },
      /\$n.*Int/,
    ],
    ['of a subscription', subscribe, { id: { canary } }, /\$id.*ID/],
    ['of a flag', 'query ($yes: Boolean!) { viewer { kind @skip(if: $yes) } }', { yes: canary }, /\$yes/],
  ])('%s in a variable', async (_what, query, variables, names) => {
    const answer = await ask(lab, query, variables);
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(answer.errors?.[0].message).toMatch(names);
    const text = JSON.stringify(answer);
    expect([canary, String(number)].filter((value) => text.includes(value))).toEqual([]);
  });

  test.each<readonly [string, string, RegExp]>([
    ['an unknown field', `mutation { undoUserDeletion(by: { name: "${canary}" }) { __typename } }`, /"name"/],
    [
      'two ways to name one',
      `mutation { undoUserDeletion(by: { id: "${canary}", clientUserId: "" }) { __typename } }`,
      /UserReference/,
    ],
    ['a wrong number', `{ users(first: "${canary}") { totalCount } }`, /Int/],
    ['a number too large', `{ users(first: ${number}) { totalCount } }`, /Int/],
    ['a wrong date', `{ orders(filter: { createdAfter: "${canary}" }) { totalCount } }`, /DateTime/],
    [
      'a word of no enum',
      '{ orders(filter: { interpretation: CANARY_Jane }) { totalCount } }',
      /Interpretation/,
    ],
    [
      'text for an enum',
      `{ orders(filter: { interpretation: "${canary}" }) { totalCount } }`,
      /Interpretation/,
    ],
    ['text for a record', `{ orders(filter: "${canary}") { totalCount } }`, /OrderFilter/],
    ['a wrong default', `query ($n: Int = "${canary}") { users(first: $n) { totalCount } }`, /Int/],
    ['a record for an id', `{ user(id: { canary: "${canary}" }) { id } }`, /ID/],
  ])('%s in a literal', async (_what, query, names) => {
    const answer = await ask(lab, query);
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
    expect(answer.errors?.[0].message).toMatch(names);
    expect(answer.errors?.[0].locations).toHaveLength(1);
    const text = JSON.stringify(answer);
    expect([canary, 'CANARY_Jane', String(number)].filter((value) => text.includes(value))).toEqual([]);
  });

  test.each([
    ['text', `{ user("${canary}") { id } }`],
    ['a number', `{ user(${number}) { id } }`],
    ['a word', '{ user(id: "x" CANARY_Jane) { id } }'],
    ['text of several lines', `{ user("""${canary}""") { id } }`],
    ['text with a wrong escape', String.raw`{ user(id: "\CANARY-Jane-Doe") { id } }`],
    ['text without an end', `{ user(id: "${canary}`],
    ['a foreign character', '{ user(id: §CANARY-Jane-Doe) { id } }'],
  ])('%s that cannot be parsed', async (_what, query) => {
    const answer = await ask(lab, query);
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
    expect(answer.errors?.[0].message).toMatch(/^Syntax Error: /);
    expect(answer.errors?.[0].locations).toHaveLength(1);
    expect(JSON.stringify(answer)).not.toMatch(/CANARY|§|271828/);
  });
});

test('a value that a field’s argument cannot take is met before the operation runs', async () => {
  const query = 'query ($n: Int = 5) { users(first: $n) { totalCount } user(id: "x") { id } }';
  expect((await lab.query(query, { variables: { n: null } })).errors?.[0]).toMatchObject({
    extensions: { code: 'BAD_USER_INPUT' },
  });
});

test('the error of a document that is too long names the bound', async () => {
  const { errors } = await lab.query(`{ ${'viewer { kind } '.repeat(300)} }`);
  expect(errors?.[0].message).toBe('Syntax Error: The document has more than 1000 tokens.');
});
