import type { Lab } from '../../support/lab.ts';
import type { PublicForm } from './form.ts';

const address = `{ firstLine secondLine unit city state zip country phoneNumber accessNotes }`;
const userOf = (lab: Lab) => lab.sandbox.users()[0]?.userId ?? '';

/** The lines of an address under the same names in two places. */
function lines(from: string, to: string, zip: 'zip' | 'zip_code'): PublicForm['shows'] {
  return {
    [`${from}/first_line`]: [`${to}/firstLine`],
    [`${from}/second_line`]: [`${to}/secondLine`],
    [`${from}/city`]: [`${to}/city`],
    [`${from}/state`]: [`${to}/state`],
    [`${from}/${zip}`]: [`${to}/zip`],
  };
}

const place = { first_line: '1 Example Street', second_line: 'Flat 2', city: 'Phoenix', state: 'AZ' };

const area: PublicForm = {
  name: 'an area',
  path: () => '/v3/order/area/info',
  query: () => `{ areaInfo(zipCode: "85004") { zipCode
    phlebotomy { isServed providers { provider providerRaw serviceTypes serviceTypesRaw } }
    labs { labSlug labId serviceCenterCount canBookAppointments capabilities capabilitiesRaw supportedBillTypes } } }`,
  at: 'areaInfo',
  body: {
    zip_code: '85004',
    phlebotomy: {
      is_served: true,
      providers: [{ name: 'getlabs', service_types: ['appointment-ready'] }],
    },
    central_labs: {
      quest: {
        patient_service_centers: {
          appointment_with_vital: true,
          within_radius: 4,
          radius: '25',
          capabilities: ['stat'],
        },
        supported_bill_types: ['client_bill'],
        lab_id: 6,
      },
    },
  },
  required: [],
  shows: {
    zip_code: ['zipCode'],
    'phlebotomy/is_served': ['phlebotomy/isServed'],
    // A provider without its name is none.
    'phlebotomy/providers/0/name': ['phlebotomy/providers'],
    'phlebotomy/providers/0/service_types': [
      'phlebotomy/providers/0/serviceTypes',
      'phlebotomy/providers/0/serviceTypesRaw',
    ],
    'central_labs/quest/patient_service_centers/appointment_with_vital': ['labs/0/canBookAppointments'],
    'central_labs/quest/patient_service_centers/within_radius': ['labs/0/serviceCenterCount'],
    'central_labs/quest/patient_service_centers/radius': [],
    'central_labs/quest/patient_service_centers/capabilities': [
      'labs/0/capabilities',
      'labs/0/capabilitiesRaw',
    ],
    'central_labs/quest/supported_bill_types': ['labs/0/supportedBillTypes'],
    'central_labs/quest/lab_id': ['labs/0/labId'],
    'central_labs/quest': ['labs/0/labSlug'],
  },
};

const center = 'patient_service_centers/0';

const centers: PublicForm = {
  name: 'service centers',
  path: () => '/v3/order/psc/info',
  query:
    () => `{ serviceCenters(zipCode: "85004", labId: 6) { siteCode name address ${address} location { longitude latitude }
    distance distanceRaw capabilities capabilitiesRaw supportedBillTypes faxNumber website hours } }`,
  at: 'serviceCenters',
  body: {
    patient_service_centers: [
      {
        metadata: {
          name: 'Sample Center',
          ...place,
          zip_code: '85004',
          phone_number: '+16025550100',
          fax_number: '+16025550101',
          website: 'https://centers.example.com/1',
          hours: { monday: '08:00-16:00' },
        },
        distance: 3,
        site_code: 'SC1',
        supported_bill_types: ['client_bill'],
        location: { lng: -112.1, lat: 33.4 },
        capabilities: ['stat'],
      },
    ],
  },
  required: ['patient_service_centers'],
  shows: {
    [`${center}/metadata/name`]: ['0/name'],
    ...lines(`${center}/metadata`, '0/address', 'zip_code'),
    [`${center}/metadata/phone_number`]: ['0/address/phoneNumber'],
    [`${center}/metadata/fax_number`]: ['0/faxNumber'],
    [`${center}/metadata/website`]: ['0/website'],
    [`${center}/metadata/hours/monday`]: ['0/hours'],
    [`${center}/distance`]: ['0/distance', '0/distanceRaw'],
    // A center without its code is none.
    [`${center}/site_code`]: ['0'],
    [`${center}/supported_bill_types`]: ['0/supportedBillTypes'],
    [`${center}/location/lng`]: ['0/location'],
    [`${center}/location/lat`]: ['0/location'],
    [`${center}/capabilities`]: ['0/capabilities', '0/capabilitiesRaw'],
  },
};

const availability: PublicForm = {
  name: 'slots at service centers',
  path: () => '/v3/order/psc/appointment/availability',
  query: () => `{ serviceCenterAvailability(input: { lab: QUEST, siteCodes: ["SC1"] }) { date timeZone
    serviceCenter { siteCode name address ${address} location { longitude latitude } distance distanceRaw }
    slots { bookingKey startAt endAt expiresAt price isPriority availableCount } } }`,
  at: 'serviceCenterAvailability',
  body: {
    timezone: 'America/Denver',
    slots: [
      {
        date: '2026-03-10',
        location: {
          location: { lng: -112.1, lat: 33.4 },
          distance: 3,
          address: { ...place, zip_code: '85004' },
          code: 'SC1',
          name: 'Sample Center',
          iana_timezone: 'America/Phoenix',
        },
        slots: [
          {
            booking_key: 'a-key',
            start: '2026-03-10T08:00:00+00:00',
            end: '2026-03-10T08:10:00+00:00',
            expires_at: '2026-03-10T07:00:00+00:00',
            price: 0,
            is_priority: false,
            num_appointments_available: 2,
          },
        ],
      },
    ],
  },
  required: ['slots'],
  shows: {
    // Counts where the place has none of its own.
    timezone: [],
    'slots/0/date': ['0/date'],
    'slots/0/location/location/lng': ['0/serviceCenter/location'],
    'slots/0/location/location/lat': ['0/serviceCenter/location'],
    'slots/0/location/distance': ['0/serviceCenter/distance', '0/serviceCenter/distanceRaw'],
    ...lines('slots/0/location/address', '0/serviceCenter/address', 'zip_code'),
    'slots/0/location/code': ['0/serviceCenter/siteCode'],
    'slots/0/location/name': ['0/serviceCenter/name'],
    'slots/0/location/iana_timezone': ['0/timeZone'],
    'slots/0/slots/0/booking_key': ['0/slots/0/bookingKey'],
    'slots/0/slots/0/start': ['0/slots/0/startAt'],
    'slots/0/slots/0/end': ['0/slots/0/endAt'],
    'slots/0/slots/0/expires_at': ['0/slots/0/expiresAt'],
    'slots/0/slots/0/price': ['0/slots/0/price'],
    'slots/0/slots/0/is_priority': ['0/slots/0/isPriority'],
    'slots/0/slots/0/num_appointments_available': ['0/slots/0/availableCount'],
  },
};

const scopes = 'providers/0/resource_availability/sleep/scope_requirements';
const shownScopes = '0/resources/0/scopeRequirements';

const connections: PublicForm = {
  name: 'connections',
  path: (lab) => `/v2/user/providers/${userOf(lab)}`,
  query: (
    lab,
  ) => `{ user(id: "${userOf(lab)}") { connections { source { name slug logo } createdAt status statusRaw externalUserId
    error { type typeRaw message occurredAt }
    resources { resource status statusRaw scopeRequirements { userGranted { required optional } userDenied { required optional } } } } } }`,
  at: 'user/connections',
  body: {
    providers: [
      {
        name: 'Fitbit',
        slug: 'fitbit',
        logo: 'https://logos.example.com/fitbit.png',
        created_on: '2026-03-01T08:00:00+00:00',
        status: 'error',
        external_user_id: 'f-1',
        error_details: {
          error_type: 'deregistered_per_provider',
          error_message: 'The user has left.',
          errored_at: '2026-03-02T08:00:00+00:00',
        },
        resource_availability: {
          sleep: {
            status: 'available',
            scope_requirements: {
              user_granted: { required: ['daily'], optional: ['weight'] },
              user_denied: { required: ['sleep'], optional: ['spo2Daily'] },
            },
          },
        },
      },
    ],
  },
  required: ['providers'],
  shows: {
    'providers/0/name': ['0/source/name'],
    'providers/0/slug': ['0/source/slug'],
    'providers/0/logo': ['0/source/logo'],
    'providers/0/created_on': ['0/createdAt'],
    'providers/0/status': ['0/status', '0/statusRaw'],
    'providers/0/external_user_id': ['0/externalUserId'],
    'providers/0/error_details/error_type': ['0/error/type', '0/error/typeRaw'],
    'providers/0/error_details/error_message': ['0/error/message'],
    'providers/0/error_details/errored_at': ['0/error/occurredAt'],
    'providers/0/resource_availability/sleep/status': ['0/resources/0/status', '0/resources/0/statusRaw'],
    'providers/0/resource_availability/sleep': ['0/resources/0/resource'],
    [`${scopes}/user_granted/required`]: [`${shownScopes}/userGranted/required`],
    [`${scopes}/user_granted/optional`]: [`${shownScopes}/userGranted/optional`],
    [`${scopes}/user_denied/required`]: [`${shownScopes}/userDenied/required`],
    [`${scopes}/user_denied/optional`]: [`${shownScopes}/userDenied/optional`],
  },
};

const markers: PublicForm = {
  name: 'markers',
  path: () => '/v3/lab_tests/markers',
  query:
    () => `{ markers(first: 1) { nodes { id name slug description labId providerId type typeRaw unit price isOrderable isALaCarteEnabled
    commonTurnaroundDays worstCaseTurnaroundDays
    expectedResults { id name slug isRequired labId providerId loinc { id name slug code unit } } } } }`,
  at: 'markers/nodes',
  body: {
    markers: [
      {
        id: 1,
        name: 'Hemoglobin A1c',
        slug: 'hemoglobin-a1c',
        description: 'Average sugar.',
        lab_id: 27,
        provider_id: '001453',
        type: 'biomarker',
        unit: '%',
        price: '10.00',
        is_orderable: true,
        a_la_carte_enabled: true,
        common_tat_days: 3,
        worst_case_tat_days: 5,
        expected_results: [
          {
            id: 2,
            name: 'A1c',
            slug: 'a1c',
            required: true,
            lab_id: 27,
            provider_id: '001453',
            loinc: { id: 3, name: 'Hemoglobin A1c', slug: 'hb-a1c', code: '4548-4', unit: '%' },
          },
        ],
      },
    ],
    total: 1,
    page: 1,
    size: 50,
    pages: 1,
  },
  required: ['markers', 'markers/0', 'markers/0/id', 'total', 'page', 'size', 'pages'],
  shows: {
    'markers/0/id': ['0/id'],
    'markers/0/name': ['0/name'],
    'markers/0/slug': ['0/slug'],
    'markers/0/description': ['0/description'],
    'markers/0/lab_id': ['0/labId'],
    'markers/0/provider_id': ['0/providerId'],
    'markers/0/type': ['0/type', '0/typeRaw'],
    'markers/0/unit': ['0/unit'],
    'markers/0/price': ['0/price'],
    'markers/0/is_orderable': ['0/isOrderable'],
    'markers/0/a_la_carte_enabled': ['0/isALaCarteEnabled'],
    'markers/0/common_tat_days': ['0/commonTurnaroundDays'],
    'markers/0/worst_case_tat_days': ['0/worstCaseTurnaroundDays'],
    // A result, or a LOINC entry, without its id is none.
    'markers/0/expected_results/0/id': ['0/expectedResults'],
    'markers/0/expected_results/0/name': ['0/expectedResults/0/name'],
    'markers/0/expected_results/0/slug': ['0/expectedResults/0/slug'],
    'markers/0/expected_results/0/required': ['0/expectedResults/0/isRequired'],
    'markers/0/expected_results/0/lab_id': ['0/expectedResults/0/labId'],
    'markers/0/expected_results/0/provider_id': ['0/expectedResults/0/providerId'],
    'markers/0/expected_results/0/loinc/id': ['0/expectedResults/0/loinc'],
    'markers/0/expected_results/0/loinc/name': ['0/expectedResults/0/loinc/name'],
    'markers/0/expected_results/0/loinc/slug': ['0/expectedResults/0/loinc/slug'],
    'markers/0/expected_results/0/loinc/code': ['0/expectedResults/0/loinc/code'],
    'markers/0/expected_results/0/loinc/unit': ['0/expectedResults/0/loinc/unit'],
    total: [],
    page: [],
    size: [],
    pages: [],
  },
};

const demographics: PublicForm = {
  name: 'demographics',
  path: (lab) => `/v2/user/${userOf(lab)}/info/latest`,
  query: (
    lab,
  ) => `{ user(id: "${userOf(lab)}") { demographics { firstName lastName email phoneNumber gender dob address ${address}
    medicalProxy { firstName lastName phoneNumber email householdIncome householdSize address ${address} }
    race raceRaw ethnicity ethnicityRaw sexualOrientation sexualOrientationRaw genderIdentity genderIdentityRaw } } }`,
  at: 'user/demographics',
  body: {
    first_name: 'Sam',
    last_name: 'Sample',
    email: 'sam@example.com',
    phone_number: '+16025550100',
    gender: 'Female',
    dob: '1990-02-03',
    address: { ...place, zip: '85004', country: 'US', access_notes: 'Side entrance.' },
    medical_proxy: {
      first_name: 'Pat',
      last_name: 'Sample',
      phone_number: '+16025550101',
      email: 'pat@example.com',
      household_income: 50_000,
      household_size: 3,
      address: { ...place, zip: '85005', country: 'US' },
    },
    race: 'asian',
    ethnicity: 'hispanic',
    sexual_orientation: 'other',
    gender_identity: 'female',
  },
  required: [],
  shows: {
    first_name: ['firstName'],
    last_name: ['lastName'],
    email: ['email'],
    phone_number: ['phoneNumber'],
    gender: ['gender'],
    dob: ['dob'],
    ...lines('address', 'address', 'zip'),
    'address/country': ['address/country'],
    'address/access_notes': ['address/accessNotes'],
    'medical_proxy/first_name': ['medicalProxy/firstName'],
    'medical_proxy/last_name': ['medicalProxy/lastName'],
    'medical_proxy/phone_number': ['medicalProxy/phoneNumber'],
    'medical_proxy/email': ['medicalProxy/email'],
    'medical_proxy/household_income': ['medicalProxy/householdIncome'],
    'medical_proxy/household_size': ['medicalProxy/householdSize'],
    ...lines('medical_proxy/address', 'medicalProxy/address', 'zip'),
    'medical_proxy/address/country': ['medicalProxy/address/country'],
    race: ['race', 'raceRaw'],
    ethnicity: ['ethnicity', 'ethnicityRaw'],
    sexual_orientation: ['sexualOrientation', 'sexualOrientationRaw'],
    gender_identity: ['genderIdentity', 'genderIdentityRaw'],
  },
};

/** Forms of places, the catalogue and people. */
export const otherForms: readonly PublicForm[] = [
  area,
  centers,
  availability,
  connections,
  markers,
  demographics,
];
