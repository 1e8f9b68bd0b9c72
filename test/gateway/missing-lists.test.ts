import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

const availability = `phlebotomyAvailability(input: {
  address: { firstLine: "100 Example Street", city: "Phoenix", state: "AZ", zip: "85004" } }) { date }`;

/** A list, its place in the service's answer, and what the service might send instead one day. */
const lists = [
  ['labs in an envelope', '{ labs { id } }', '/v3/lab_tests/labs', { labs: [] }],
  ['no labs at all', '{ labs { id } }', '/v3/lab_tests/labs', null],
  [
    'cancellation reasons in an envelope',
    '{ appointmentCancellationReasons(type: PHLEBOTOMY) { id } }',
    '/v3/order/phlebotomy/appointment/cancellation-reasons',
    { reasons: [] },
  ],
  ['availability without slots', `{ ${availability} }`, '/v3/order/phlebotomy/appointment/availability', {}],
  [
    'service centers in a text',
    '{ serviceCenters(zipCode: "85004", labId: 6) { siteCode } }',
    '/v3/order/psc/info',
    { patient_service_centers: 'SC001' },
  ],
] as const;

test.each(lists)('%s: an answer without its list is unreadable and counted, not empty', async (...list) => {
  const [, query, path, answer] = list;
  await using lab = await startLab();
  const effect = { kind: 'answer', status: 200, body: JSON.stringify(answer) } as const;
  lab.sandbox.faults.add({ path, effect });

  const { errors } = await lab.query(query);

  expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNREADABLE' } }]);
  const metrics = await (await fetch(`${lab.url}/metrics`)).text();
  expect(metrics).toMatch(/unreadable_total\{[^}]*\} 1$/m);
});
