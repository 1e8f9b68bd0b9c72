import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

/** A search for places or slots that the service refuses names the argument, and never its value. */

const address = '{ firstLine: "100 Example Street", city: "Phoenix", state: "AZ", zip: "85004" }';

const searches = [
  { search: 'areaInfo(zipCode: "85004") { zipCode }', at: ['query', 'zip_code'], named: 'zipCode' },
  {
    search: 'serviceCenters(zipCode: "85004", labId: 6, capabilitiesRaw: ["secret"]) { siteCode }',
    at: ['query', 'capabilities', 0],
    named: 'capabilitiesRaw',
  },
  {
    search: 'serviceCenterAvailability(input: { labRaw: "secret", zipCode: "85004" }) { date }',
    at: ['query', 'lab'],
    named: 'input.labRaw',
  },
  {
    search: `phlebotomyAvailability(input: { address: ${address} }) { date }`,
    at: ['body', 'zip_code'],
    named: 'input.address.zip',
  },
];

const refusalAt = (loc: readonly (string | number)[]) => ({
  kind: 'answer' as const,
  status: 422,
  body: JSON.stringify({ detail: [{ type: 'enum', loc, msg: 'Input should be known', input: 'secret' }] }),
});

test.each(searches)('$search names $named', async ({ search, at, named }) => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: '/v3/order/', effect: refusalAt(at) });
  const { errors } = await lab.query(`{ ${search} }`);
  expect(errors).toMatchObject([
    {
      message: `The service does not accept the value of ${named}.`,
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ]);
});

test("the service centers of an order name their field's argument", async () => {
  await using lab = await startLab();
  const order = lab.sandbox.orders().find(({ method }) => method === 'walk_in_test');
  lab.sandbox.faults.add({ path: /psc\/info/, effect: refusalAt(['query', 'capabilities']) });
  const { errors } = await lab.query(
    `{ order(id: "${order?.orderId}") { serviceCenters(capabilitiesRaw: ["secret"]) { siteCode } } }`,
  );
  expect(errors?.[0]?.message).toBe('The service does not accept the value of capabilitiesRaw.');
});

test('a refusal that names no argument stays one of the service', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: '/v3/order/', effect: refusalAt(['query', 'another']) });
  const { errors } = await lab.query('{ areaInfo(zipCode: "85004") { zipCode } }');
  expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_REJECTED');
});
