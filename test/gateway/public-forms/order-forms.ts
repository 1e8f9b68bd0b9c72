import type { Lab } from '../../support/lab.ts';
import type { PublicForm } from './form.ts';

const orderId = '2c6ba9f4-0000-4000-8000-5d4398e556e3';
const address = `{ receiverName firstLine secondLine unit city state zip country phoneNumber accessNotes }`;

/** The order whose results and appointment are asked for: one of the sandbox. */
export const orderOf = (lab: Lab, method: string) =>
  lab.sandbox.orders().find((order) => order.method === method)?.orderId ?? '';

/** Rows of an address whose fields have the service's own names. */
function addressRows(from: string, to: string): PublicForm['shows'] {
  return {
    [`${from}/receiver_name`]: [`${to}/receiverName`],
    [`${from}/first_line`]: [`${to}/firstLine`],
    [`${from}/second_line`]: [`${to}/secondLine`],
    [`${from}/city`]: [`${to}/city`],
    [`${from}/state`]: [`${to}/state`],
    [`${from}/zip`]: [`${to}/zip`],
    [`${from}/country`]: [`${to}/country`],
    [`${from}/phone_number`]: [`${to}/phoneNumber`],
  };
}

/** A date of results: as an instant, as a day, as text. */
const dates = (name: string) => `${name}At ${name}On ${name}AtRaw`;
const shownDates = (path: string) => [`${path}At`, `${path}On`, `${path}AtRaw`];

const home = {
  receiver_name: 'Sam Sample',
  first_line: '1 Example Street',
  second_line: 'Flat 2',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'United States',
  phone_number: '+16025550100',
};

const order: PublicForm = {
  name: 'an order of a kit',
  path: () => `/v3/order/${orderId}`,
  query: () => `{ order(id: "${orderId}") { id teamId userId status { raw } method methodRaw
    events { id createdAt statusDetail status { raw } } sampleId notes clinicalNotes hasAbn healthInsuranceId priority
    details { id appointmentId createdAt updatedAt }
    shipment { id notes createdAt updatedAt outbound { courier trackingNumber trackingUrl } inbound { courier trackingNumber trackingUrl } }
    shippingAddress ${address}
    labTest { id slug name description method methodRaw sampleTypeRaw status statusRaw price fasting commonTurnaroundDays worstCaseTurnaroundDays
      lab { id slug name firstLine city zip collectionMethods collectionMethodsRaw sampleTypesRaw logoUrl } }
    interpretation interpretationRaw origin originRaw createdAt updatedAt } }`,
  at: 'order',
  body: {
    id: orderId,
    team_id: '6353bcab-0000-4000-8000-c5f5a4a1d8c0',
    user_id: '63661a2b-0000-4000-8000-d4cc4c5c9a1f',
    shipping_details: home,
    lab_test: {
      id: '6b3d0ed6-0000-4000-8000-64a2f3a3a2f1',
      slug: 'lipids-kit',
      name: 'Lipids Kit',
      description: 'Blood fats.',
      sample_type: 'dried_blood_spot',
      method: 'testkit',
      price: 12.5,
      status: 'active',
      fasting: true,
      common_tat_days: 3,
      worst_case_tat_days: 7,
      lab: {
        id: 27,
        slug: 'example-lab',
        name: 'Example Lab',
        first_line_address: '1 Lab Plaza',
        city: 'Phoenix',
        zipcode: '85004',
        collection_methods: ['testkit'],
        sample_types: ['serum', 'saliva'],
        logo_url: 'https://logos.example.com/lab.png',
      },
    },
    details: {
      type: 'testkit',
      data: {
        id: 'a5d3fa4c-0000-4000-8000-0a2c7d9bbd77',
        created_at: '2026-03-01T10:00:00+00:00',
        updated_at: '2026-03-02T10:00:00+00:00',
        appointment_id: 'b6d3fa4c-0000-4000-8000-0a2c7d9bbd77',
        shipment: {
          id: 'd7d3fa4c-0000-4000-8000-0a2c7d9bbd77',
          created_at: '2026-03-03T10:00:00+00:00',
          updated_at: '2026-03-04T10:00:00+00:00',
          outbound_courier: 'usps',
          outbound_tracking_number: '111',
          outbound_tracking_url: 'https://track.example.com/111',
          inbound_courier: 'ups',
          inbound_tracking_number: '222',
          inbound_tracking_url: 'https://track.example.com/222',
          notes: 'By the door.',
        },
      },
    },
    sample_id: '12345',
    notes: 'A note.',
    clinical_notes: 'Fasting.',
    has_abn: true,
    priority: true,
    health_insurance_id: 'e8d3fa4c-0000-4000-8000-0a2c7d9bbd77',
    interpretation: 'normal',
    origin: 'redraw',
    events: [
      {
        id: 5,
        created_at: '2026-03-01T10:00:00+00:00',
        status: 'received.testkit.ordered',
        status_detail: 'date_of_collection_unspecified',
      },
    ],
    created_at: '2026-03-01T09:00:00+00:00',
    updated_at: '2026-03-05T09:00:00+00:00',
  },
  required: ['id', 'user_id'],
  shows: {
    id: ['id'],
    user_id: ['userId'],
    team_id: ['teamId'],
    ...addressRows('shipping_details', 'shippingAddress'),
    'lab_test/id': ['labTest/id'],
    'lab_test/slug': ['labTest/slug'],
    'lab_test/name': ['labTest/name'],
    'lab_test/description': ['labTest/description'],
    'lab_test/sample_type': ['labTest/sampleTypeRaw'],
    'lab_test/method': ['labTest/method', 'labTest/methodRaw'],
    'lab_test/price': ['labTest/price'],
    'lab_test/status': ['labTest/status', 'labTest/statusRaw'],
    'lab_test/fasting': ['labTest/fasting'],
    'lab_test/common_tat_days': ['labTest/commonTurnaroundDays'],
    'lab_test/worst_case_tat_days': ['labTest/worstCaseTurnaroundDays'],
    // A lab without its id is none.
    'lab_test/lab/id': ['labTest/lab'],
    'lab_test/lab/slug': ['labTest/lab/slug'],
    'lab_test/lab/name': ['labTest/lab/name'],
    'lab_test/lab/first_line_address': ['labTest/lab/firstLine'],
    'lab_test/lab/city': ['labTest/lab/city'],
    'lab_test/lab/zipcode': ['labTest/lab/zip'],
    'lab_test/lab/collection_methods': ['labTest/lab/collectionMethods', 'labTest/lab/collectionMethodsRaw'],
    'lab_test/lab/sample_types': ['labTest/lab/sampleTypesRaw'],
    'lab_test/lab/logo_url': ['labTest/lab/logoUrl'],
    'details/type': ['method', 'methodRaw'],
    'details/data/id': ['details/id'],
    'details/data/created_at': ['details/createdAt'],
    'details/data/updated_at': ['details/updatedAt'],
    'details/data/appointment_id': ['details/appointmentId'],
    'details/data/shipment/id': ['shipment/id'],
    'details/data/shipment/created_at': ['shipment/createdAt'],
    'details/data/shipment/updated_at': ['shipment/updatedAt'],
    'details/data/shipment/outbound_courier': ['shipment/outbound/courier'],
    'details/data/shipment/outbound_tracking_number': ['shipment/outbound/trackingNumber'],
    'details/data/shipment/outbound_tracking_url': ['shipment/outbound/trackingUrl'],
    'details/data/shipment/inbound_courier': ['shipment/inbound/courier'],
    'details/data/shipment/inbound_tracking_number': ['shipment/inbound/trackingNumber'],
    'details/data/shipment/inbound_tracking_url': ['shipment/inbound/trackingUrl'],
    'details/data/shipment/notes': ['shipment/notes'],
    sample_id: ['sampleId'],
    notes: ['notes'],
    clinical_notes: ['clinicalNotes'],
    has_abn: ['hasAbn'],
    priority: ['priority'],
    health_insurance_id: ['healthInsuranceId'],
    interpretation: ['interpretation', 'interpretationRaw'],
    origin: ['origin', 'originRaw'],
    // An event without its id or status is none, and the status of the order is that of its last event.
    'events/0/id': ['events', 'status'],
    'events/0/created_at': ['events/0/createdAt'],
    'events/0/status': ['events', 'status'],
    'events/0/status_detail': ['events/0/statusDetail'],
    created_at: ['createdAt'],
    updated_at: ['updatedAt'],
  },
};

const laboratory = 'sample_information/S1/performing_laboratories/AT';
const shownLaboratory = 'samples/0/performingLaboratories/0';

const results: PublicForm = {
  name: 'results',
  path: (lab) => `/v3/order/${orderOf(lab, 'walk_in_test')}/result`,
  query: (lab) => `{ order(id: "${orderOf(lab, 'walk_in_test')}") { results {
    metadata { patientName age birthDateRaw provider laboratory cliaNumber specimenNumber statusRaw interpretation interpretationRaw ${dates('collected')} ${dates('received')} ${dates('reported')} }
    biomarkers { name slug value type typeRaw unit referenceRange minRange maxRange isAboveRange isBelowRange interpretation interpretationRaw
      sourceInterpretation loincCode loincSlug providerId notes performingLaboratory sampleId ${dates('reported')} sourceMarkers { markerId name slug providerId } }
    missing { name slug reason reasonRaw note loincCode loincSlug providerId }
    samples { sampleId controlNumber ${dates('collected')} ${dates('received')} ${dates('reported')} laboratories fasting notes information totalVolume
      performingLaboratories { code name phoneNumber medicalDirector address ${address} } } } } }`,
  at: 'order/results',
  body: {
    metadata: {
      age: '33',
      dob: '18/08/1993',
      'clia_#': '00D0000000',
      patient: 'Sam Sample',
      provider: 'Dr. Example',
      laboratory: 'Example Lab',
      date_reported: '2026-03-05',
      date_collected: '2026-03-03',
      date_received: '2026-03-04',
      specimen_number: '123131',
      status: 'final',
      interpretation: 'normal',
    },
    results: [
      {
        name: 'Monocytes',
        slug: 'monocytes',
        result: '0.4',
        type: 'numeric',
        unit: '10*3/uL',
        timestamp: '2026-03-05T08:28:00+00:00',
        notes: 'Final',
        reference_range: '0.1-0.9',
        min_range_value: 0.1,
        max_range_value: 0.9,
        is_above_max_range: false,
        is_below_min_range: false,
        interpretation: 'normal',
        source_interpretation: 'N',
        loinc: '742-7',
        loinc_slug: 'monocytes-auto-bld-vol',
        provider_id: '005009',
        source_markers: [{ marker_id: 12, name: 'Blood Count', slug: 'blood-count', provider_id: '005009' }],
        performing_laboratory: 'AT',
        source_sample_id: 'S1',
      },
    ],
    missing_results: [
      {
        name: 'Basophils',
        slug: 'basophils',
        inferred_failure_type: 'internal_lab_failure',
        note: 'Lost.',
        loinc: '706-2',
        loinc_slug: 'basophils',
        provider_id: '015156',
      },
    ],
    sample_information: {
      S1: {
        sample_id: 'S1',
        control_number: 'C9',
        date_collected: { timestamp: '2026-03-03T08:00:00+00:00', timezone_offset: -25_200 },
        date_received: '2026-03-04T08:00:00+00:00',
        date_reported: '2026-03-05T08:00:00+00:00',
        performing_laboratories: {
          AT: {
            name: 'Example Lab South',
            phone_number: '+16025550142',
            medical_director: 'Dr. Robin Standin',
            address: {
              first_line: '2 Lab Plaza',
              second_line: 'Floor 3',
              country: 'US',
              zip: '85004',
              city: 'Phoenix',
              state: 'AZ',
              access_notes: 'Rear door.',
            },
          },
        },
        clinical_information: {
          fasting: true,
          notes: 'Noted.',
          information: 'No medication.',
          total_volume: '5 mL',
        },
      },
    },
  },
  required: [],
  shows: {
    'metadata/age': ['metadata/age'],
    'metadata/dob': ['metadata/birthDateRaw'],
    'metadata/clia_#': ['metadata/cliaNumber'],
    'metadata/patient': ['metadata/patientName'],
    'metadata/provider': ['metadata/provider'],
    'metadata/laboratory': ['metadata/laboratory'],
    'metadata/date_reported': ['metadata/reportedOn', 'metadata/reportedAtRaw'],
    'metadata/date_collected': ['metadata/collectedOn', 'metadata/collectedAtRaw'],
    'metadata/date_received': ['metadata/receivedOn', 'metadata/receivedAtRaw'],
    'metadata/specimen_number': ['metadata/specimenNumber'],
    'metadata/status': ['metadata/statusRaw'],
    'metadata/interpretation': ['metadata/interpretation', 'metadata/interpretationRaw'],
    'results/0/name': ['biomarkers/0/name'],
    'results/0/slug': ['biomarkers/0/slug'],
    'results/0/result': ['biomarkers/0/value'],
    'results/0/type': ['biomarkers/0/type', 'biomarkers/0/typeRaw'],
    'results/0/unit': ['biomarkers/0/unit'],
    'results/0/timestamp': shownDates('biomarkers/0/reported'),
    'results/0/notes': ['biomarkers/0/notes'],
    'results/0/reference_range': ['biomarkers/0/referenceRange'],
    'results/0/min_range_value': ['biomarkers/0/minRange'],
    'results/0/max_range_value': ['biomarkers/0/maxRange'],
    'results/0/is_above_max_range': ['biomarkers/0/isAboveRange'],
    'results/0/is_below_min_range': ['biomarkers/0/isBelowRange'],
    'results/0/interpretation': ['biomarkers/0/interpretation', 'biomarkers/0/interpretationRaw'],
    'results/0/source_interpretation': ['biomarkers/0/sourceInterpretation'],
    'results/0/loinc': ['biomarkers/0/loincCode'],
    'results/0/loinc_slug': ['biomarkers/0/loincSlug'],
    'results/0/provider_id': ['biomarkers/0/providerId'],
    'results/0/source_markers/0/marker_id': ['biomarkers/0/sourceMarkers/0/markerId'],
    'results/0/source_markers/0/name': ['biomarkers/0/sourceMarkers/0/name'],
    'results/0/source_markers/0/slug': ['biomarkers/0/sourceMarkers/0/slug'],
    'results/0/source_markers/0/provider_id': ['biomarkers/0/sourceMarkers/0/providerId'],
    'results/0/performing_laboratory': ['biomarkers/0/performingLaboratory'],
    'results/0/source_sample_id': ['biomarkers/0/sampleId'],
    'missing_results/0/name': ['missing/0/name'],
    'missing_results/0/slug': ['missing/0/slug'],
    'missing_results/0/inferred_failure_type': ['missing/0/reason', 'missing/0/reasonRaw'],
    'missing_results/0/note': ['missing/0/note'],
    'missing_results/0/loinc': ['missing/0/loincCode'],
    'missing_results/0/loinc_slug': ['missing/0/loincSlug'],
    'missing_results/0/provider_id': ['missing/0/providerId'],
    'sample_information/S1/sample_id': ['samples/0/sampleId'],
    'sample_information/S1/control_number': ['samples/0/controlNumber'],
    'sample_information/S1/date_collected/timestamp': shownDates('samples/0/collected'),
    'sample_information/S1/date_collected/timezone_offset': [],
    'sample_information/S1/date_received': shownDates('samples/0/received'),
    'sample_information/S1/date_reported': shownDates('samples/0/reported'),
    [laboratory]: [`${shownLaboratory}/code`],
    [`${laboratory}/name`]: [`${shownLaboratory}/name`, 'samples/0/laboratories'],
    [`${laboratory}/phone_number`]: [`${shownLaboratory}/phoneNumber`],
    [`${laboratory}/medical_director`]: [`${shownLaboratory}/medicalDirector`],
    [`${laboratory}/address/first_line`]: [`${shownLaboratory}/address/firstLine`],
    [`${laboratory}/address/second_line`]: [`${shownLaboratory}/address/secondLine`],
    [`${laboratory}/address/country`]: [`${shownLaboratory}/address/country`],
    [`${laboratory}/address/zip`]: [`${shownLaboratory}/address/zip`],
    [`${laboratory}/address/city`]: [`${shownLaboratory}/address/city`],
    [`${laboratory}/address/state`]: [`${shownLaboratory}/address/state`],
    [`${laboratory}/address/access_notes`]: [`${shownLaboratory}/address/accessNotes`],
    'sample_information/S1/clinical_information/fasting': ['samples/0/fasting'],
    'sample_information/S1/clinical_information/notes': ['samples/0/notes'],
    'sample_information/S1/clinical_information/information': ['samples/0/information'],
    'sample_information/S1/clinical_information/total_volume': ['samples/0/totalVolume'],
  },
};

const appointment: PublicForm = {
  name: 'an appointment',
  path: (lab) => `/v3/order/${orderOf(lab, 'at_home_phlebotomy')}/phlebotomy/appointment`,
  query: (lab) => `{ order(id: "${orderOf(lab, 'at_home_phlebotomy')}") { appointment {
    id transactionId type typeRaw provider providerRaw providerId externalId status statusRaw eventStatus eventStatusRaw eventData
    events { createdAt status statusRaw details } startAt endAt timeZone address ${address} location { longitude latitude }
    canReschedule appointmentNotes accessNotes } } }`,
  at: 'order/appointment',
  body: {
    id: '7dc2a1b8-0000-4000-8000-095746627a9b',
    order_transaction_id: '7813d502-0000-4000-8000-92590f74a4c1',
    address: {
      first_line: '1 Example Street',
      second_line: 'Flat 2',
      city: 'Phoenix',
      state: 'AZ',
      zip_code: '85004',
      country: 'United States',
      access_notes: 'Side entrance.',
    },
    location: { lng: -112.1, lat: 33.4 },
    start_at: '2026-03-10T08:00:00+00:00',
    end_at: '2026-03-10T10:00:00+00:00',
    iana_timezone: 'America/Phoenix',
    type: 'phlebotomy',
    provider: 'getlabs',
    status: 'confirmed',
    provider_id: '123',
    external_id: 'ext-123',
    can_reschedule: true,
    appointment_notes: 'Bring an ID.',
    event_status: 'scheduled',
    event_data: { origin: 'patient' },
    events: [{ created_at: '2026-03-01T08:00:00+00:00', status: 'scheduled', data: { origin: 'provider' } }],
  },
  required: ['id'],
  shows: {
    id: ['id'],
    order_transaction_id: ['transactionId'],
    'address/first_line': ['address/firstLine'],
    'address/second_line': ['address/secondLine'],
    'address/city': ['address/city'],
    'address/state': ['address/state'],
    'address/zip_code': ['address/zip'],
    'address/country': ['address/country'],
    'address/access_notes': ['address/accessNotes', 'accessNotes'],
    // A point is both numbers or none.
    'location/lng': ['location'],
    'location/lat': ['location'],
    start_at: ['startAt'],
    end_at: ['endAt'],
    iana_timezone: ['timeZone'],
    type: ['type', 'typeRaw'],
    provider: ['provider', 'providerRaw'],
    status: ['status', 'statusRaw'],
    provider_id: ['providerId'],
    external_id: ['externalId'],
    can_reschedule: ['canReschedule'],
    appointment_notes: ['appointmentNotes'],
    event_status: ['eventStatus', 'eventStatusRaw'],
    'event_data/origin': ['eventData'],
    'events/0/created_at': ['events/0/createdAt'],
    // An event without its status is none.
    'events/0/status': ['events'],
    'events/0/data/origin': ['events/0/details'],
  },
};

/** Forms of an order, and of what hangs on one. */
export const orderForms: readonly PublicForm[] = [order, results, appointment];
