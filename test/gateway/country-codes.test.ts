import { expect, test } from 'vitest';
import { toCountry } from '../../gateway/domain/address/rest.ts';
import type { Variables } from './mutations/row.ts';
import { callOf, rowOf } from './mutations/rows.ts';
import { openWorld } from './mutations/world.ts';

/** The same arguments with this text as every country. */
function withCountry(variables: Variables, country: string): Variables {
  return JSON.parse(
    JSON.stringify(variables, (name, value: unknown) => (name === 'country' ? country : value)),
  );
}

/** Every country in a request. */
function countriesIn(body: Buffer): readonly unknown[] {
  const found: unknown[] = [];
  JSON.parse(body.toString(), (name, value: unknown) => {
    if (name === 'country') found.push(value);
    return value;
  });
  return found;
}

const sending = [
  { mutation: 'createTestkitOrder', addresses: 1 },
  { mutation: 'createOrder', addresses: 1 },
  { mutation: 'importOrder', addresses: 1 },
  { mutation: 'registerTestkit', addresses: 1 },
  { mutation: 'updateDemographics', addresses: 2 },
];

const written = ['United States', ' us '];

test.each(sending.flatMap((row) => written.map((country) => ({ ...row, country }))))(
  '$mutation sends the two-letter code of a country that is written as "$country"',
  async ({ mutation, addresses, country }) => {
    const row = rowOf(mutation);
    await using world = await openWorld(row);
    const result = await world.call(withCountry(world.variables, country));
    const sent = world.lab.sent.findLast(({ call }) => callOf(row).test(call));
    expect(sent && countriesIn(sent.body)).toEqual(Array(addresses).fill('US'));
    expect(result.word).toBe(row.success);
  },
);

test('an order is repeated with its input as it was given, whatever code was sent', async () => {
  await using world = await openWorld(rowOf('createTestkitOrder'));
  const words = [];
  for (const country of ['us', 'us', 'US'])
    words.push((await world.call(withCountry(world.variables, country))).word);
  const { success, again } = rowOf('createTestkitOrder');
  expect(words).toEqual([success, again, 'IdempotencyConflict']);
});

test.each([
  ['United Kingdom', 'GB'],
  ['France', 'FR'],
  ['serbia', 'RS'],
  ['Russia', 'RU'],
  ['Benin', 'BJ'],
  ['Burkina Faso', 'BF'],
  ['Timor-Leste', 'TL'],
  ['Congo - Kinshasa', 'CD'],
  ['Vietnam', 'VN'],
  ['UK', 'GB'],
  ['fx', 'FR'],
  ['ZZ', null],
  ['EU', null],
  ['Atlantis', null],
])('the code of %s is %s', (text, code) => {
  expect(toCountry(text).code).toBe(code);
});
