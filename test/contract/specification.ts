import type { Exchange } from './exchange.ts';
import { type Fault, findFaults, type Schema } from './json-schema.ts';

/**
 * The tables of the specification, as its part "Resources and their fields" and "Events" have them: every field
 * that a table names, with the type that it states. Types by name; `?` where the table says nullable, `~` where the field may be missing.
 */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PortalUrl: { url: 'url', expires_in: 'integer' },
  ValidationError: { detail: 'any' },
  Refusal: {},
  MarkerPage: { markers: 'Marker[]', total: 'integer', page: 'page', size: 'size' },
  Marker: {
    ...{ id: 'integer', name: 'string', slug: 'string', description: 'string?', lab_id: 'integer' },
    ...{ provider_id: 'string', type: 'string', unit: 'string?', price: 'string' },
    expected_results: 'ExpectedResult[]',
  },
  ExpectedResult: {
    ...{
      id: 'integer',
      name: 'string',
      slug: 'string',
      lab_id: 'integer',
      provider_id: 'string',
      loinc: 'Loinc',
    },
  },
  Loinc: { id: 'integer', name: 'string', slug: 'string', code: 'string', unit: 'string?' },
  PlacedOrder: { order: 'Order', status: 'string', message: 'string' },
  OrderList: { orders: 'Order[]' },
  Order: {
    ...{
      id: 'uuid',
      team_id: 'uuid',
      user_id: 'uuid',
      shipping_details: 'ShippingAddress',
      patient_address: 'Address',
    },
    ...{ patient_details: 'Patient', details: 'Details', lab_test: 'LabTestOfOrder', sample_id: 'string' },
    ...{
      health_insurance_id: 'uuid',
      notes: 'string',
      activate_by: 'date',
      has_abn: 'boolean',
      origin: 'string',
    },
    ...{ requisition_form_url: 'url', status: 'string', events: 'OrderEvent[]', last_event: 'OrderEvent' },
    ...{ order_transaction: 'Transaction', interpretation: 'string?' },
    ...{ created_at: 'timestamp', updated_at: 'timestamp' },
  },
  ShippingAddress: {
    ...{
      receiver_name: 'string',
      first_line: 'string',
      second_line: 'string?',
      city: 'string',
      state: 'string',
    },
    ...{ zip: 'string', country: 'country', phone_number: 'phone' },
  },
  Address: {
    ...{
      receiver_name: 'string',
      first_line: 'string',
      second_line: 'string?',
      city: 'string',
      state: 'string',
    },
    ...{ zip: 'string', country: 'country', phone_number: 'phone', access_notes: 'string?' },
  },
  Patient: { dob: 'date', gender: 'string' },
  Details: { type: 'string', data: 'DetailsData' },
  DetailsData: { id: 'uuid', created_at: 'timestamp', updated_at: 'timestamp', shipment: 'Shipment~' },
  Shipment: {
    ...{ id: 'string', created_at: 'timestamp', updated_at: 'timestamp', notes: 'string' },
    ...{ inbound_courier: 'string', inbound_tracking_number: 'string', inbound_tracking_url: 'string' },
    ...{ outbound_courier: 'string', outbound_tracking_number: 'string', outbound_tracking_url: 'string' },
  },
  LabTestOfOrder: { name: 'string', description: 'string', method: 'string' },
  Transaction: { id: 'uuid', status: 'string', orders: 'OrderInTransaction[]' },
  OrderInTransaction: {
    ...{ id: 'string', created_at: 'timestamp', updated_at: 'timestamp', origin: 'string' },
    ...{ low_level_status: 'string', low_level_status_created_at: 'timestamp' },
  },
  OrderEvent: { id: 'integer', created_at: 'timestamp', status: 'string', status_detail: 'string?' },
  LabAccountList: { data: 'LabAccount[]' },
  LabAccount: { id: 'uuid', status: 'string', delegated_flow: 'string' },
  UserList: { users: 'User[]', total: 'integer', offset: 'integer', limit: 'integer' },
  User: {
    ...{ user_id: 'uuid', team_id: 'uuid', client_user_id: 'string', created_on: 'timestamp' },
    ...{
      connected_sources: 'ConnectedSource[]',
      fallback_birth_date: 'BirthDate',
      fallback_time_zone: 'TimeZone',
    },
  },
  ConnectedSource: { created_on: 'timestamp', source: 'Source' },
  Source: { name: 'string', slug: 'string', logo: 'url' },
  BirthDate: { value: 'date', source_slug: 'string', updated_at: 'timestamp' },
  TimeZone: { id: 'string', source_slug: 'string', updated_at: 'timestamp' },
  TakenReference: { user_id: 'uuid', created_on: 'timestamp' },
  Appointment: { appointment_notes: 'string?', access_notes: 'string?' },
  ParsingJob: { id: 'uuid', status: 'string' },

  Event: { event_type: 'string', data: 'object', team_id: 'uuid', user_id: 'uuid', client_user_id: 'string' },
  OrderEventReceived: { status: 'string', events: 'OrderEvent[]', last_event: 'OrderEvent' },
  Connection: { source: 'Source', user_id: 'uuid' },
  Activity: {
    ...{ user_id: 'uuid', source: 'Source', id: 'string', calendar_date: 'date', date: 'timestamp' },
    ...{ calories_active: 'number', calories_total: 'number', daily_movement: 'number', distance: 'number' },
    ...{ floors_climbed: 'number', steps: 'number', timezone_offset: 'integer' },
    ...{ high: 'number?', medium: 'number?', low: 'number?' },
  },
  Samples: { user_id: 'uuid', source: 'Source', source_id: 'integer', data: 'Sample[]' },
  Sample: {
    ...{ timestamp: 'timestamp', start: 'timestamp~', end: 'timestamp~', timezone_offset: 'integer' },
    ...{ type: 'string?', unit: 'string', value: 'number' },
  },
  Workout: {
    ...{ user_id: 'uuid', source: 'Source', message: 'string', provider_id: 'string', sport: 'Sport' },
    workout_id: 'uuid',
  },
  Sport: { id: 'integer', name: 'string', slug: 'string' },
};

const types: Readonly<Record<string, Schema>> = {
  any: {},
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object', additionalProperties: true },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  url: { type: 'string', format: 'uri' },
  page: { type: 'integer', minimum: 1 },
  size: { type: 'integer', minimum: 1, maximum: 100 },
  /** A full name, never the code that was sent. */
  country: { type: 'string', pattern: '^[A-Z][a-z].{2,}$' },
  phone: { type: 'string', pattern: '^\\+' },
};

function typeOf(text: string): Schema {
  if (text.endsWith('?') || text.endsWith('~'))
    return { anyOf: [typeOf(text.slice(0, -1)), { type: 'null' }] };
  if (text.endsWith('[]')) return { type: 'array', items: typeOf(text.slice(0, -2)) };
  return types[text] ?? { $ref: text };
}

/** A table as a schema: every field but those marked `~` must be there; further fields are the service's own. */
function schemaOf(table: string): Schema {
  const fields = Object.entries(tables[table] ?? {});
  return {
    type: 'object',
    required: fields.filter(([, type]) => !type.endsWith('~')).map(([name]) => name),
    properties: Object.fromEntries(fields.map(([name, type]) => [name, typeOf(type)])),
    additionalProperties: true,
  };
}

/** What an operation answers with 200, by its path. */
const answers: readonly (readonly [RegExp, string])[] = [
  [/^POST \/v2\/user\/[^/]+\/create_portal_url$/, 'PortalUrl'],
  [/^POST \/v3\/lab_tests\/list_order_set_markers$/, 'MarkerPage'],
  [/^POST \/v3\/order\/testkit$/, 'PlacedOrder'],
  [/^POST \/v3\/order(\/create|\/import)?$/, 'PlacedOrder'],
  [/^GET \/v2\/user\/?$/, 'UserList'],
  [/^GET \/v2\/user\/(resolve\/)?[^/]+$/, 'User'],
  [/^GET (\/v3)?\/orders$/, 'OrderList'],
  [/^GET \/v3\/order\/[^/]+$/, 'Order'],
  [/^GET \/v3\/lab_test\/lab_account$/, 'LabAccountList'],
  [/^GET \/v3\/lab_tests\/markers$/, 'MarkerPage'],
  [/^\w+ \/v3\/order\/[^/]+\/phlebotomy\/appointment(\/(book|request|reschedule))?$/, 'Appointment'],
  [/^\w+ \/lab_report\/v1\/parser\/job(\/[^/]+)?$/, 'ParsingJob'],
];

/** What an event carries, by its type. */
const payloads: readonly (readonly [RegExp, string])[] = [
  [/^provider\.connection\.created$/, 'Connection'],
  [/^daily\.data\.activity\.(created|updated)$/, 'Activity'],
  [/^daily\.data\.workout_stream\.created$/, 'Workout'],
  [/^daily\.data\.(steps|calories_active|glucose)\.created$/, 'Samples'],
  [/^labtest\.order\.(created|updated)$/, 'OrderEventReceived'],
  [/^lab_report\.parsing_job\.(created|updated)$/, 'ParsingJob'],
];

function findTableFaults(table: string, value: unknown): readonly Fault[] {
  return findFaults({ $ref: table }, value, { at: table, resolve: schemaOf });
}

/** The table that an answer must match; undefined where the specification shows none. */
export function tableOf({
  method,
  path,
  status,
}: Pick<Exchange, 'method' | 'path' | 'status'>): string | undefined {
  if (status === 422) return 'ValidationError';
  if (status >= 400) return 'Refusal';
  return answers.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
}

export function findAnswerFaults(answered: Exchange): readonly Fault[] {
  const table = tableOf(answered);
  return table === undefined ? [] : findTableFaults(table, answered.received);
}

export function tableOfEvent(eventType: string): string | undefined {
  return payloads.find(([pattern]) => pattern.test(eventType))?.[1];
}

/** Faults of a webhook: of its envelope, and of its payload where a table shows it. */
export function findEventFaults(body: {
  readonly event_type: string;
  readonly data: unknown;
}): readonly Fault[] {
  const table = tableOfEvent(body.event_type);
  return [...findTableFaults('Event', body), ...(table ? findTableFaults(table, body.data) : [])];
}

/** Every table that an answer or an event is held against. */
export const usedTables: readonly string[] = [...answers, ...payloads].map(([, table]) => table);

/** Bodies that the specification shows, and what a request is refused without; the values fit. */
export const requests: Readonly<Record<string, readonly string[]>> = {
  'POST /v2/user/:user_id/create_portal_url': ['context'],
  'POST /v3/order/testkit': ['user_id', 'lab_test_id', 'shipping_details'],
};
