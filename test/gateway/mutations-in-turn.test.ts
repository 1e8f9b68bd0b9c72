import { describe, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { callerKey, manage } from '../support/management.ts';
import { text } from '../support/misbehaving-service.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';
import { orderAt } from './mutations/upkeep-rows.ts';

const order = (id: string) => `simulateOrder(input: { id: "${id}"`;
const results = '{ ... on OrderSimulated { order { status { raw } results { biomarkers { name } } } } }';

describe('the second of two mutations in one operation shows the state after it:', () => {
  test('the results of an order that had none after the first', async () => {
    await using lab = await startLab();
    const orderId = orderAt(lab, 'walk_in_test.requisition_created');
    const status = 'completed.walk_in_test.completed';

    const { data } = await lab.query(
      `mutation { a: ${order(orderId)} }) ${results} b: ${order(orderId)}, finalStatus: "${status}" }) ${results} }`,
    );

    const after = await lab.query(`{ order(id: "${orderId}") { results { biomarkers { name } } } }`);
    expect(data.a.order.results).toBeNull();
    expect(data.b.order).toEqual({ status: { raw: status }, ...after.data.order });
    expect(after.data.order.results.biomarkers).not.toEqual([]);
  });

  test('the appointment that the second cancelled', async () => {
    await using lab = await startLab();
    const orderId = orderAt(lab, 'at_home_phlebotomy.appointment_scheduled');
    const { data: found } = await lab.query(`{
      appointmentCancellationReasons(type: PHLEBOTOMY) { id needsNotes }
      phlebotomyAvailability(input: { address: { firstLine: "1 Way", city: "Phoenix", state: "AZ", zip: "85004" } }) {
        slots { bookingKey }
      }
    }`);
    const [reason] = found.appointmentCancellationReasons.filter(
      (each: { readonly needsNotes: boolean }) => !each.needsNotes,
    );
    const [slot] = found.phlebotomyAvailability.flatMap((day: { readonly slots: object[] }) => day.slots);
    const shown = '{ ... on AppointmentAccepted { order { appointment { statusRaw } } } }';

    const { data } = await lab.query(`mutation {
      a: reschedulePhlebotomyAppointment(input: { orderId: "${orderId}", bookingKey: "${slot.bookingKey}" }) ${shown}
      b: cancelPhlebotomyAppointment(input: { orderId: "${orderId}", cancellationReasonId: "${reason.id}" }) ${shown}
    }`);

    expect(data).toEqual({
      a: { order: { appointment: { statusRaw: 'confirmed' } } },
      b: { order: { appointment: { statusRaw: 'cancelled' } } },
    });
  });

  test('a thing that could not be read after the first', async () => {
    await using lab = await startSpoiltLab();
    const orderId = orderAt(lab, 'walk_in_test.requisition_created');
    const shown = '{ ... on OrderSimulated { order { transaction { orders { id } } user { id } } } }';
    lab.spoil({ at: /GET \/v2\/user\//, isDone: false, answer: text('', 400) });

    const { data, errors } = await lab.query(
      `mutation { a: ${order(orderId)} }) ${shown} b: ${order(orderId)} }) ${shown} }`,
    );

    expect(errors?.map(({ path }) => path)).toEqual([['a', 'order', 'user']]);
    expect(data.b.order.user).not.toBeNull();
  });

  test('a team of the management graph', async () => {
    await using lab = await startLab({ managementCaller: callerKey });
    const create = (name: string) =>
      `createTeam(input: { name: "${name}", region: US, integrationTeamId: "north" })`;
    const taken = '{ ... on TeamReferenceTaken { team { name } } }';
    const made = await manage(
      lab,
      `mutation { made: ${create('North')} { ... on TeamCreated { team { id } } } }`,
    );
    const { id } = made.data.made.team;

    const { data } = await manage(
      lab,
      `mutation {
        a: ${create('Other')} ${taken}
        b: updateTeam(input: { teamId: "${id}", name: "South" }) { __typename }
        c: ${create('Other')} ${taken}
      }`,
    );

    expect(data).toEqual({
      a: { team: { name: 'North' } },
      b: { __typename: 'TeamUpdated' },
      c: { team: { name: 'South' } },
    });
  });
});
