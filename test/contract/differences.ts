import type { Fault } from './json-schema.ts';

/** A place where the service's two descriptions differ, and the row of docs/service.md that says so. */
interface Difference {
  /** As in `Fault`: the nearest named schema or table, and the way from there. */
  readonly at: string;
  readonly rule: string;
  readonly row: string;
}

/** Where the sandbox follows the specification although the public service's document says otherwise. */
export const sandboxDifferences: readonly Difference[] = [
  // The specification's order shows the lab test with a description.
  { at: 'ClientFacingLabTest/description', rule: 'undeclared', row: '12' },
  // The specification lists both; the document has them in its examples only.
  { at: 'ClientFacingShipment/created_at', rule: 'undeclared', row: '12a' },
  { at: 'ClientFacingShipment/updated_at', rule: 'undeclared', row: '12a' },
  // The sandbox's second lab is invented; the set is said to be open.
  { at: 'Labs', rule: 'enum', row: '30h' },
];

/** The same for webhooks: envelope and payload as the specification has them. */
export const webhookDifferences: readonly Difference[] = [
  ...sandboxDifferences.filter(({ row }) => row !== '30h'),
  ...[
    ...['ClientFacingOrderChanged', 'ClientFacingAppointmentChanged', 'ClientFacingCriticalResultIdentified'],
    ...['ClientFacingActivityChanged', 'ClientFacingStepsChanged', 'ClientFacingWorkoutStreamChanged'],
    ...['ClientFacingActivityHistoricalPullCompleted', 'ClientFacingProviderConnectionCreatedEvent'],
    ...['ClientFacingLabReportParsingJobCreatedEvent', 'ClientFacingLabReportParsingJobUpdatedEvent'],
  ].map((event) => ({ at: `${event}/client_user_id`, rule: 'format', row: '26a' })),
  ...['provider', 'type', 'app_id', 'device_id'].map((field) => ({
    at: `ClientFacingProvider/${field}`,
    rule: 'undeclared',
    row: '40i',
  })),
  { at: 'GroupedSteps/source_id', rule: 'undeclared', row: '40n' },
  { at: 'GroupedSteps/user_id', rule: 'undeclared', row: '40n' },
];

/** Where the gateway sends what only the specification has. */
export const gatewayDifferences: readonly Difference[] = [
  { at: 'CreateOrderRequestCompatible/update_reason', rule: 'undeclared', row: '31e' },
  // The address of an import: the specification gives every patient's address a phone number.
  { at: 'PatientAddress/phone_number', rule: 'undeclared', row: '31h' },
];

/** The same for the management interface, in both directions. */
export const managementDifferences: readonly Difference[] = [
  // The lab of the account is the invented one.
  { at: 'MgmtLabs', rule: 'enum', row: '30h' },
];

/** Where the sandbox follows the public service although a table of the specification says otherwise. */
export const tableDifferences: readonly Difference[] = [
  { at: 'Patient/dob', rule: 'format', row: '13' },
  { at: 'Appointment/access_notes', rule: 'required', row: '40a' },
  { at: 'Address/phone_number', rule: 'required', row: '12b' },
  // Nothing is known yet, or nothing was given.
  ...[
    ...['Order/activate_by', 'Order/health_insurance_id', 'Order/notes', 'Order/requisition_form_url'],
    ...['Order/sample_id', 'Address', 'Patient', 'ShippingAddress', 'BirthDate', 'TimeZone'],
    ...['Shipment/inbound_courier', 'Shipment/inbound_tracking_number', 'Shipment/inbound_tracking_url'],
    'Shipment/notes',
  ].map((at) => ({ at, rule: 'type', row: '12b' })),
];

/** Faults by where they are, each once, with one finding for the reader of a failed test. */
function group(faults: readonly Fault[]): ReadonlyMap<string, string> {
  return new Map(faults.map(({ at, rule, found }) => [`${at}: ${rule}`, found]));
}

/** Faults that no row allows, and rows that allow what never happens; both empty when all is well. */
export function compare(faults: readonly Fault[], allowed: readonly Difference[]) {
  const found = group(faults);
  const names = new Set(allowed.map(({ at, rule }) => `${at}: ${rule}`));
  return {
    notAllowed: Object.fromEntries([...found].filter(([name]) => !names.has(name))),
    neverNeeded: [...names].filter((name) => !found.has(name)),
  };
}

export const asAllowed = { notAllowed: {}, neverNeeded: [] };
