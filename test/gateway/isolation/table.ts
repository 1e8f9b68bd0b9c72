import { nodeIdOf } from '../../support/node-id.ts';
import type { Person } from './people.ts';

/** Nobody's: it discloses nothing of anybody to its sender. */
interface Public {
  readonly kind: 'public';
  readonly because: string;
}

/** Taken from servers of the team only: viewers get FORBIDDEN for every id. */
interface TeamOnly {
  readonly kind: 'team';
}

/** Somebody's: another's is answered like nobody's. */
interface Owned {
  readonly kind: 'owned';
  /** What this person gives as their own; null where a mutation's row arranges it. */
  readonly of: (person: Person) => unknown;
  /** Is of the user and of no order, so that it is no other's to a second token of that user. */
  readonly isOfUser?: true;
}

/** Good for everybody who has it, and shows or makes what is the caller's own: nothing of anybody else is disclosed. */
interface Open {
  readonly kind: 'open';
  readonly of: (person: Person) => unknown;
}

/** A caller's own invention: another's is as good as a new one. */
interface OwnKey {
  readonly kind: 'key';
}

export type Treatment = Public | TeamOnly | Owned | Open | OwnKey;

const nobodys = (because: string): Public => ({ kind: 'public', because });
const catalogue = nobodys('The catalogue is the same for everybody.');
const accounts = nobodys('Lab accounts are of the team; an order on one says nothing of other orders on it.');
const slots = nobodys('Slots are of an area; one is booked for an order, whose id is checked.');
const team: TeamOnly = { kind: 'team' };
const key: OwnKey = { kind: 'key' };
const order: Owned = { kind: 'owned', of: ({ orderId }) => orderId };
const orders: Owned = { kind: 'owned', of: ({ orderId }) => [orderId] };
const user: Owned = { kind: 'owned', of: ({ userId }) => userId, isOfUser: true };

// One user has one of these here; that a token for another order is not shown it, objects-beside-ids.test.ts says.
const appointment: Owned = { kind: 'owned', of: ({ appointmentId }) => appointmentId, isOfUser: true };
const labReport: Owned = { kind: 'owned', of: ({ labReportId }) => labReportId, isOfUser: true };

/** The places that take a `nodeId` of this type. */
function nodesOf(type: string, treatment: Owned | Public) {
  if (treatment.kind === 'public')
    return { [`Query.node(nodeId: ${type})`]: treatment, [`Query.nodes(nodeIds: ${type})`]: treatment };
  const of = (person: Person) => nodeIdOf(type, String(treatment.of(person)));
  return {
    [`Query.node(nodeId: ${type})`]: { ...treatment, of },
    [`Query.nodes(nodeIds: ${type})`]: { ...treatment, of: (person: Person) => [of(person)] },
  };
}

/**
 * How every place that takes an id treats one that is not the caller's, by schema coordinate. A new coordinate
 * needs a row here, and nothing else: the walk finds the fields that take it.
 */
export const table: Readonly<Record<string, Treatment>> = {
  'Query.order(id:)': order,
  'OrderFilter.orderIds': orders,
  'OrderFilter.transactionId': { kind: 'owned', of: ({ transactionId }) => transactionId },
  // A token for one order may not search: it could find out the patient's name.
  'OrderFilter.search': { kind: 'owned', of: ({ orderId }) => orderId, isOfUser: true },
  'Query.user(id:)': user,
  'Query.userByClientUserId(clientUserId:)': {
    kind: 'owned',
    of: ({ clientUserId }) => clientUserId,
    isOfUser: true,
  },
  'Query.appointment(id:)': appointment,
  'Query.labReport(id:)': labReport,
  'Query.workoutStream(workoutId:)': { kind: 'owned', of: ({ workoutId }) => workoutId, isOfUser: true },

  // Cursors of lists are positions among the rows that the caller may see.
  'Query.orders(after:)': { kind: 'open', of: ({ cursors }) => cursors.orders },
  'User.orders(after:)': { kind: 'owned', of: ({ cursors }) => cursors.ownOrders, isOfUser: true },
  'Query.users(after:)': { kind: 'open', of: ({ cursors }) => cursors.users },
  'Query.historicalPulls(after:)': { kind: 'open', of: ({ cursors }) => cursors.pulls },
  'Subscription.orderUpdates(after:)': { kind: 'owned', of: ({ cursors }) => cursors.orderUpdates },
  'Subscription.userOrderUpdates(after:)': {
    kind: 'owned',
    of: ({ cursors }) => cursors.userOrderUpdates,
    isOfUser: true,
  },
  'Subscription.orderUpdates(orderId:)': order,
  'Subscription.userOrderUpdates(userId:)': user,
  'Query.eventCursor(userId:)': team,
  'Subscription.events(userId:)': team,
  'Subscription.events(after:)': team,

  'Mutation.cancelOrder(id:)': order,
  'Mutation.simulateOrder(id:)': order,
  'CancelOrderInput.id': order,
  'SimulateOrderInput.id': order,
  'UpdateOrderInput.id': order,
  'BookAppointmentInput.orderId': order,
  'BookServiceCenterAppointmentInput.orderId': order,
  'BookServiceCenterAppointmentInput.idempotencyKey': key,
  'RequestAppointmentInput.orderId': order,
  'RescheduleAppointmentInput.orderId': order,
  'CancelAppointmentInput.orderId': order,
  'CreateDocumentTicketInput.orderId': order,
  'CreatePortalUrlInput.orderId': order,
  'CreatePortalUrlInput.userId': user,
  'CreateLaunchTicketInput.orderId': order,
  'CreateLaunchTicketInput.userId': user,
  'CreateTestkitOrderInput.userId': user,
  'CreateTestkitOrderInput.idempotencyKey': key,
  'CreateOrderInput.userId': user,
  'CreateOrderInput.idempotencyKey': key,
  'CreateLabReportInput.userId': user,
  'CreateLabReportInput.idempotencyKey': key,
  'ImportOrderInput.userId': user,
  // The number of a tube, which the service takes once, from any owner.
  'ImportOrderInput.sampleId': { kind: 'open', of: () => null },
  'RegisterTestkitInput.sampleId': { kind: 'owned', of: () => null },
  'RegisterTestkitInput.userId': user,
  'UpdateDemographicsInput.userId': user,

  'CreateUserInput.clientUserId': team,
  'UpdateUserInput.id': team,
  'UpdateUserInput.clientUserId': team,
  'Mutation.deleteUser(id:)': team,
  'DeleteUserInput.id': team,
  'UserReference.id': team,
  'UserReference.clientUserId': team,
  'ResendOrderEventsInput.orderIds': team,
  'CreateViewerTokenInput.userId': team,
  'CreateViewerTokenInput.orderIds': team,
  'RevokeViewerTokensInput.userId': team,
  'RevokeViewerTokensInput.jti': team,

  'Query.lab(id:)': catalogue,
  ...nodesOf('User', user),
  ...nodesOf('Order', order),
  ...nodesOf('Appointment', appointment),
  ...nodesOf('LabReport', labReport),
  ...nodesOf('LabTest', catalogue),
  ...nodesOf('Lab', catalogue),
  ...nodesOf('Marker', catalogue),
  ...nodesOf('LabAccount', accounts),

  'Query.labTest(id:)': catalogue,
  'Query.marker(id:)': catalogue,
  'Query.serviceCenters(labId:)': catalogue,
  'Query.labTests(after:)': catalogue,
  'Query.markers(after:)': catalogue,
  'Query.orderSetMarkers(after:)': catalogue,
  'Query.orderSetMarkers(labTestIds:)': catalogue,
  'Query.orderSetMarkers(addOnProviderIds:)': catalogue,
  'Query.orderSetMarkers(addOnMarkerIds:)': catalogue,
  'LabTest.markers(after:)': catalogue,
  'Loinc.markers(after:)': catalogue,
  'Order.markers(after:)': catalogue,
  'OrderEvent.markers(after:)': catalogue,
  'AoeAnswerInput.markerId': catalogue,
  'AoeAnswerInput.questionId': catalogue,
  'OrderAddOnInput.markerIds': catalogue,
  'OrderAddOnInput.providerIds': catalogue,
  'OrderSetInput.labTestIds': catalogue,
  'CreateTestkitOrderInput.labTestId': catalogue,
  'Query.labAccounts(id:)': accounts,
  'Query.labTest(labAccountId:)': accounts,
  'Query.orderSetMarkers(labAccountId:)': accounts,
  'Query.areaInfo(labAccountId:)': accounts,
  'Query.serviceCenters(labAccountId:)': accounts,
  'LabTestFilter.labAccountId': accounts,
  'MarkerFilter.labAccountId': accounts,
  'CreateOrderInput.labAccountId': accounts,
  'CreateTestkitOrderInput.labAccountId': accounts,
  'ImportOrderInput.labAccountId': accounts,
  'BookAppointmentInput.bookingKey': slots,
  'BookServiceCenterAppointmentInput.bookingKey': slots,
  'RescheduleAppointmentInput.bookingKey': slots,
  'CancelAppointmentInput.cancellationReasonId': nobodys('The reasons are a list of the service.'),
};
