import { latestAppointment } from '../appointments/appointment.ts';
import { formatMicroseconds, formatTimestamp } from '../world/clock.ts';
import { presentLabTest } from '../world/present-catalogue.ts';
import type { World } from '../world/world.ts';
import type { Order, OrderEvent } from './order.ts';
import { currentStatus } from './order.ts';
import { partsOf } from './states.ts';

function presentEvent(event: OrderEvent) {
  return {
    id: event.id,
    created_at: formatTimestamp(event.createdAt),
    status: event.status,
    status_detail: event.statusDetail,
  };
}

function presentDetails(world: World, order: Order) {
  const shared = {
    id: order.detailsId,
    created_at: formatTimestamp(order.createdAt),
    updated_at: formatTimestamp(order.updatedAt),
  };
  switch (order.method) {
    case 'testkit':
      return { type: order.method, data: { ...shared, shipment: order.shipment } };
    case 'on_site_collection':
      return { type: order.method, data: shared };
    default:
      return {
        type: order.method,
        data: { ...shared, appointment_id: latestAppointment(world, order)?.id ?? null },
      };
  }
}

/** Active until every order in it has ended; cancelled only when all were (public service). */
function transactionStatus(orders: readonly Order[]): string {
  const stages = orders.map((order) => partsOf(currentStatus(order)).stage);
  if (stages.every((stage) => stage === 'cancelled')) return 'cancelled';
  return stages.at(-1) === 'completed' ? 'completed' : 'active';
}

function presentTransaction(world: World, order: Order) {
  const stored = world.state.orders.filter((each) => each.transactionId === order.transactionId);
  const orders = stored.includes(order) ? stored : [...stored, order];
  return {
    id: order.transactionId,
    status: transactionStatus(orders),
    orders: orders.map((each) => ({
      id: each.id,
      low_level_status: partsOf(currentStatus(each)).step,
      low_level_status_created_at: formatMicroseconds(each.events.at(-1)?.createdAt ?? each.createdAt),
      origin: each.origin,
      parent_id: each.parentId,
      created_at: formatMicroseconds(each.createdAt),
      updated_at: formatMicroseconds(each.updatedAt),
    })),
  };
}

function presentPatient(order: Order) {
  if (!order.patientDetails) return null;
  return {
    ...order.patientDetails,
    medical_proxy: null,
    race: null,
    ethnicity: null,
    sexual_orientation: null,
    gender_identity: null,
  };
}

/** The order as the service shows it, in answers and in webhooks (specification: order object). */
export function presentOrder(world: World, order: Order) {
  const { extras } = order;
  const events = order.events.map(presentEvent);
  const labTest = world.catalogue.labTests.find((each) => each.id === order.labTestId);
  return {
    id: order.id,
    team_id: world.teamId,
    user_id: order.userId,
    patient_details: presentPatient(order),
    patient_address: order.patientAddress,
    shipping_details: order.shippingDetails,
    lab_test: labTest ? { ...presentLabTest(labTest), markers: null } : null,
    details: presentDetails(world, order),
    sample_id: order.sampleId,
    notes: extras.notes ?? null,
    clinical_notes: extras.clinicalNotes ?? null,
    created_at: formatTimestamp(order.createdAt),
    updated_at: formatTimestamp(order.updatedAt),
    events,
    status: partsOf(currentStatus(order)).stage,
    last_event: events.at(-1),
    physician: null,
    health_insurance_id: extras.healthInsuranceId ?? null,
    requisition_form_url: order.requisitionFormUrl,
    priority: false,
    activate_by: extras.activateBy ?? null,
    passthrough: order.passthrough,
    billing_type: 'client_bill',
    icd_codes: null,
    has_abn: extras.hasAbn ?? false,
    interpretation: order.interpretation,
    has_missing_results: null,
    expected_result_by_date: null,
    worst_case_result_by_date: null,
    origin: order.origin,
    order_transaction: presentTransaction(world, order),
  };
}
