import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lab, readAnew, startLab } from '../support/lab.ts';
import {
  differencesOf,
  findRowFaults,
  isWithin,
  type PublicForm,
  shownBy,
  variationsOf,
} from './public-forms/form.ts';
import { orderForms, orderOf } from './public-forms/order-forms.ts';
import { otherForms } from './public-forms/other-forms.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: { ...readAnew, RATE_LIMIT_POINTS: '0' } });
});
afterAll(() => lab[Symbol.asyncDispose]());

const forms = [...orderForms, ...otherForms];

function formOf(name: string): PublicForm {
  const form = forms.find((each) => each.name === name);
  if (form === undefined) throw new Error(`There is no form ${name}.`);
  return form;
}

/** What the gateway shows where the service answers this body. */
async function show(form: PublicForm, body: unknown): Promise<unknown> {
  lab.sandbox.faults.clear();
  const effect = { kind: 'answer', status: 200, body: JSON.stringify(body) } as const;
  lab.sandbox.faults.add({ path: form.path(lab), effect });
  const { data, errors } = await lab.query(form.query(lab));
  expect(errors).toBeUndefined();
  return form.at.split('/').reduce((value, key) => value[key], data);
}

test.each(forms)('every field of $name in the public form has a row', (form) => {
  expect(findRowFaults(form)).toEqual([]);
});

test.each(forms)(
  'a field of $name that is missing, null or of another type changes nothing but itself',
  async (form) => {
    const whole = await show(form, form.body);
    const changed = new Set<string>();
    const faults: string[] = [];
    for (const { path, change, body } of variationsOf(form)) {
      const allowed = shownBy(form, path);
      for (const difference of differencesOf(whole, await show(form, body))) {
        if (isWithin(difference, allowed)) changed.add(difference);
        else faults.push(`${path} ${change}: ${difference}`);
      }
    }
    expect(faults).toEqual([]);
    const shown = Object.entries(form.shows).flatMap(([path, paths]) =>
      form.required.includes(path) ? [] : paths,
    );
    expect(shown.filter((path) => ![...changed].some((each) => isWithin(each, [path])))).toEqual([]);
  },
);

/** Forms that only samples of the public service have: what replaces the schema's form, and what is shown. */
const samples: readonly {
  readonly name: string;
  readonly of: string;
  readonly body: unknown;
  readonly shown: unknown;
}[] = [
  {
    name: 'the zip code of demographics as zip_code',
    of: 'demographics',
    body: { first_name: 'Sam', address: { first_line: '1 Example Street', zip_code: '91189' } },
    shown: { firstName: 'Sam', address: { firstLine: '1 Example Street', zip: '91189', country: null } },
  },
  {
    name: "the tier of an area's provider, as text",
    of: 'an area',
    body: { phlebotomy: { providers: [{ name: 'phlebfinders', tier: 'appointment-request' }] } },
    shown: { phlebotomy: { providers: [{ serviceTypes: ['APPOINTMENT_REQUEST'] }] } },
  },
  {
    name: "the tier of an area's provider, as a list",
    of: 'an area',
    body: { phlebotomy: { providers: [{ name: 'getlabs', tier: ['appointment-ready', 'new'] }] } },
    shown: {
      phlebotomy: {
        providers: [{ serviceTypes: ['APPOINTMENT_READY'], serviceTypesRaw: ['appointment-ready', 'new'] }],
      },
    },
  },
  {
    name: 'a distance as text',
    of: 'service centers',
    body: { patient_service_centers: [{ site_code: 'A', distance: '12' }] },
    shown: [{ distance: 12, distanceRaw: '12' }],
  },
  {
    name: 'a distance as text that is no whole number',
    of: 'service centers',
    body: { patient_service_centers: [{ site_code: 'A', distance: '1.5 mi' }] },
    shown: [{ distance: null, distanceRaw: '1.5 mi' }],
  },
  {
    name: 'the distance of a center with slots as text',
    of: 'slots at service centers',
    body: { slots: [{ date: '2026-03-10', location: { code: 'A', distance: '3' }, slots: [] }] },
    shown: [{ serviceCenter: { siteCode: 'A', distance: 3, distanceRaw: '3' } }],
  },
  {
    name: 'the country and the unit of an appointment',
    of: 'an appointment',
    body: { id: 'a', address: { first_line: '1 Example Street', unit: '14', country: 'United States' } },
    shown: { address: { secondLine: '14', unit: '14', country: 'United States' } },
  },
  {
    name: 'a unit beside a second line',
    of: 'an appointment',
    body: { id: 'a', address: { second_line: 'Building B', unit: '14' } },
    shown: { address: { secondLine: 'Building B', unit: '14' } },
  },
  {
    name: 'a unit beside an empty second line',
    of: 'an appointment',
    body: { id: 'a', address: { second_line: '', unit: '14' } },
    shown: { address: { secondLine: '14', unit: '14' } },
  },
  {
    name: 'a result with the empty texts that are defaults of the service',
    of: 'results',
    body: { results: [{ name: 'Monocytes', slug: '', result: '0.4', source_interpretation: '' }] },
    shown: { biomarkers: [{ name: 'Monocytes', slug: null, sourceInterpretation: null }] },
  },
  {
    name: 'an address with the empty texts that are defaults of the service',
    of: 'an appointment',
    body: { id: 'a', address: { receiver_name: '', second_line: '' } },
    shown: { address: { receiverName: null, secondLine: null, unit: null } },
  },
];

test.each(samples)('$name is read', async ({ of, body, shown }) => {
  expect(await show(formOf(of), body)).toMatchObject(shown as object);
});

test('an order shows how the sandbox stores its kit, and a result where it was measured', async () => {
  lab.sandbox.faults.clear();
  const finished = lab.sandbox.orders().find(({ status }) => status === 'completed.testkit.completed');
  const answer = await lab.query(`{ order(id: "${finished?.orderId}") {
    details { id createdAt updatedAt appointmentId } shipment { id }
    labTest { commonTurnaroundDays worstCaseTurnaroundDays lab { sampleTypesRaw } }
    results { samples { information totalVolume performingLaboratories { code name phoneNumber medicalDirector address { firstLine city } } } } } }`);
  expect(answer.data.order).toEqual({
    details: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      appointmentId: null,
    },
    shipment: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    labTest: {
      commonTurnaroundDays: 3,
      worstCaseTurnaroundDays: 7,
      lab: { sampleTypesRaw: ['serum', 'dried_blood_spot'] },
    },
    results: {
      samples: [
        {
          information: 'No medication was reported.',
          totalVolume: '5 mL',
          performingLaboratories: [
            {
              code: 'example-diagnostics',
              name: 'Example Diagnostics (invented)',
              phoneNumber: '+16025550142',
              medicalDirector: 'Dr. Robin Standin',
              address: { firstLine: '1 Example Plaza', city: 'Exampleville' },
            },
          ],
        },
      ],
    },
  });
});

test('the order of a visit names its appointment', async () => {
  lab.sandbox.faults.clear();
  const scheduled = lab.sandbox
    .orders()
    .find(({ status }) => status === 'collecting_sample.at_home_phlebotomy.appointment_scheduled');
  const { data } = await lab.query(
    `{ order(id: "${scheduled?.orderId ?? orderOf(lab, 'at_home_phlebotomy')}") { transaction { id }
      details { appointmentId } appointment { id transactionId providerId eventData } } }`,
  );
  expect(data.order.appointment).toEqual({
    id: data.order.details.appointmentId,
    transactionId: data.order.transaction.id,
    providerId: expect.stringMatching(/^EX-/),
    eventData: { origin: 'provider' },
  });
});
