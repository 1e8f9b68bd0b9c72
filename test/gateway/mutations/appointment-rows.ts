import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { readyOrder, reasonOf, slotsOf, type VisitKind, visitKinds } from '../../support/visiting.ts';
import { address, canary, closed, given, type Row, refused, type Variables } from './row.ts';
import { traceOf } from './upkeep-rows.ts';

const notes = `${canary} rings twice`;
const accepted = {
  success: 'AppointmentAccepted',
  selection:
    '... on AppointmentAccepted { appointment { id } } ... on AppointmentRefused { status { step } }',
};
const write = { kind: 'write', canLook: true, waits: false } as const;

const callOf = (kind: VisitKind, name: string) =>
  new RegExp(`^\\w+ /v3/order/[^/]+/${kind.path}/appointment/${name}$`);
const orderIdOf = ({ input }: Variables) => (input as { readonly orderId: string }).orderId;
const noOrder = given(() => ({ orderId: crypto.randomUUID() }));

/** The order, its steps, and how often its appointment was changed. */
function traceOfVisit(kind: VisitKind): Row['trace'] {
  return async (lab, variables) => {
    const order = await traceOf(lab, orderIdOf(variables));
    const found = await lab.peek(`/v3/order/${orderIdOf(variables)}/${kind.path}/appointment`);
    const { status, events } = found as { readonly status?: string; readonly events?: readonly object[] };
    return { order, status, changes: events?.length };
  };
}

/** An order that is over: nobody visits for it any more. */
const endedOrder = (kind: VisitKind) =>
  given(({ lab }) => {
    const ended = lab.sandbox
      .orders()
      .find(({ method, status }) => method === kind.method && /(completed|partial_results)$/.test(status));
    return { orderId: ended?.orderId };
  });

async function toBook(lab: SpoiltLab, kind: VisitKind) {
  const { orderId } = await readyOrder(lab, kind);
  const slots = await slotsOf(lab, kind);
  return { orderId, slots, bookingKey: slots[2]?.bookingKey };
}

/** An order with an appointment, which was booked with `bookingKey`. */
async function booked(lab: SpoiltLab, kind: VisitKind) {
  const visit = await toBook(lab, kind);
  const { orderId, bookingKey } = visit;
  const place = kind.name === 'ServiceCenter' ? 'ServiceCenter' : '';
  await lab.query(
    `mutation ($input: Book${place}AppointmentInput!) { book${kind.name}Appointment(input: $input) { __typename } }`,
    { variables: { input: { orderId, bookingKey } } },
  );
  return visit;
}

async function cancelVisit({ lab, variables }: { lab: SpoiltLab; variables: Variables }, kind: VisitKind) {
  const input = { orderId: orderIdOf(variables), cancellationReasonId: await reasonOf(lab, kind, false) };
  await lab.query(
    `mutation ($input: CancelAppointmentInput!) { cancel${kind.name}Appointment(input: $input) { __typename } }`,
    { variables: { input } },
  );
  return variables;
}

function bookingRow(kind: VisitKind, more: Readonly<Record<string, unknown>>, again: string): Row {
  const call = callOf(kind, 'book');
  return {
    mutation: `book${kind.name}Appointment`,
    ...accepted,
    arrange: async (lab) => {
      const { orderId, bookingKey } = await toBook(lab, kind);
      return { input: { orderId, bookingKey, appointmentNotes: notes, ...more } };
    },
    refusals: {
      InputRejected: given({ appointmentNotes: canary.repeat(100) }),
      SlotUnavailable: given({ bookingKey: `${canary}.made.up` }),
      AppointmentRefused: endedOrder(kind),
      NotFound: noOrder,
      FeatureNotEnabled: closed(call),
    },
    asks: { call, ...write },
    trace: traceOfVisit(kind),
    again,
  };
}

function reschedulingRow(kind: VisitKind): Row {
  const call = callOf(kind, 'reschedule');
  return {
    mutation: `reschedule${kind.name}Appointment`,
    ...accepted,
    arrange: async (lab) => {
      const { orderId, slots } = await booked(lab, kind);
      return { input: { orderId, bookingKey: slots[5]?.bookingKey, appointmentNotes: notes } };
    },
    refusals: {
      InputRejected: given({ appointmentNotes: canary.repeat(100) }),
      SlotUnavailable: given({ bookingKey: `${canary}.made.up` }),
      AppointmentRefused: (stage) => cancelVisit(stage, kind),
      NotFound: noOrder,
      FeatureNotEnabled: closed(call),
    },
    asks: { call, ...write },
    trace: traceOfVisit(kind),
    // The key of a slot works once.
    again: 'SlotUnavailable',
  };
}

function cancellationRow(kind: VisitKind): Row {
  const call = callOf(kind, 'cancel');
  return {
    mutation: `cancel${kind.name}Appointment`,
    ...accepted,
    arrange: async (lab) => {
      const { orderId } = await booked(lab, kind);
      return { input: { orderId, cancellationReasonId: await reasonOf(lab, kind, true), notes } };
    },
    refusals: {
      InputRejected: given({ cancellationReasonId: crypto.randomUUID() }),
      SlotUnavailable: {
        given: refused(call, 404, `${canary} is gone`),
        instead: 'AppointmentRefused',
        because: 'Who cancels asks for no slot.',
      },
      AppointmentRefused: (stage) => cancelVisit(stage, kind),
      NotFound: noOrder,
      FeatureNotEnabled: closed(call),
    },
    asks: { call, ...write },
    trace: traceOfVisit(kind),
    again: 'AppointmentRefused',
  };
}

const [atHome, atCenter] = visitKinds;
const request = callOf(atHome, 'request');
const { firstLine, secondLine, city, state, zip } = address;
const visited = { firstLine, secondLine, city, state, zip, accessNotes: `${canary} door` };

export const appointmentRows: readonly Row[] = [
  bookingRow(atHome, {}, 'AppointmentRefused'),
  bookingRow(atCenter, { asyncConfirmation: true, idempotencyKey: `${canary}-1` }, 'AppointmentAccepted'),
  reschedulingRow(atHome),
  reschedulingRow(atCenter),
  cancellationRow(atHome),
  cancellationRow(atCenter),
  {
    mutation: 'requestPhlebotomyAppointment',
    ...accepted,
    arrange: async (lab) => {
      const { orderId } = await readyOrder(lab, atHome);
      return { input: { orderId, address: visited, provider: 'PHLEBFINDERS', appointmentNotes: notes } };
    },
    refusals: {
      InputRejected: given({ address: { ...visited, zip: canary } }),
      SlotUnavailable: {
        given: refused(request, 404, `${canary} is gone`),
        instead: 'AppointmentRefused',
        because: 'Who asks for a visit names no slot.',
      },
      AppointmentRefused: endedOrder(atHome),
      NotFound: noOrder,
      FeatureNotEnabled: closed(request),
    },
    asks: { call: request, ...write },
    trace: traceOfVisit(atHome),
    again: 'AppointmentRefused',
  },
];
