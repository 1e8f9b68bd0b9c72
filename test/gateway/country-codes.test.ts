import { expect, test } from 'vitest';
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

test.each(sending)(
  '$mutation sends the two-letter code of a country, however it is written',
  async ({ mutation, addresses }) => {
    const row = rowOf(mutation);
    await using world = await openWorld(row);
    for (const country of ['United States', ' us ']) {
      const result = await world.call(withCountry(world.variables, country));
      const sent = world.lab.sent.findLast(({ call }) => callOf(row).test(call));
      expect(sent && countriesIn(sent.body)).toEqual(Array(addresses).fill('US'));
      expect([row.success, row.again]).toContain(result.word);
    }
  },
);
