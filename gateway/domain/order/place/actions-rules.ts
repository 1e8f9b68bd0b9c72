import { countCharacters, isOver } from '../../../graph/arguments.ts';
import { findIssues, given, type InputRule, isGiven, under } from '../../../graph/input-rules.ts';
import type { InputIssue } from '../../../graph/user-error.ts';
import { startOfDay } from '../../../parse/dates.ts';
import { isPhoneNumber } from '../../address/rest.ts';
import {
  accessNotesRule,
  addressRules,
  findProxyIssues,
  isEmail,
  isMinor,
} from '../../user/actions-demographics.ts';
import type { NewOrder, NewTestkitOrder, OrderSetRequest, OrderToImport, PatientPart } from './rest.ts';

const giveName = 'Give the name of the receiver.';
const givePhone = 'Give the phone number in international format, with a leading plus sign.';
export const giveKey = 'Give 1 to 255 characters, new for each new order.';
const giveFirstName = 'Give a first name of 1 to 50 characters.';
const giveLastName = 'Give a last name of 1 to 50 characters.';
const atMost1000 = 'Give at most 1,000 characters.';

const maxName = 50;

/** Rules for the patient (public service: patient input). */
const patientRules: readonly InputRule<PatientPart['patientDetails']>[] = [
  given('firstName', giveFirstName),
  ['firstName', giveFirstName, ({ firstName }) => countCharacters(firstName) <= maxName, 'TOO_LONG'],
  given('lastName', giveLastName),
  ['lastName', giveLastName, ({ lastName }) => countCharacters(lastName) <= maxName, 'TOO_LONG'],
  [
    'dob',
    'Give a day of birth that is not in the future.',
    ({ dob }) => startOfDay(dob).getTime() <= Date.now(),
  ],
  given('gender', 'Give gender or genderRaw.'),
  ['phoneNumber', givePhone, ({ phoneNumber }) => isPhoneNumber(phoneNumber)],
  ['email', 'Give an e-mail address.', ({ email }) => isEmail(email)],
  [
    'medicalProxy',
    'A person under 18 needs a medical proxy.',
    ({ medicalProxy, dob }) => medicalProxy !== null || !isMinor(dob),
    'REQUIRED',
  ],
];

const patientAddressRules: readonly InputRule<PatientPart['patientAddress']>[] = [
  ...addressRules,
  accessNotesRule,
];

/** Rules for the shipping address of a kit (public service). */
export const shippingRules: readonly InputRule<NewTestkitOrder['shipping']>[] = [
  given('receiverName', giveName),
  ...addressRules,
  ['phoneNumber', givePhone, ({ phoneNumber }) => isPhoneNumber(phoneNumber)],
];

const nameMarkers = 'Name markers either by markerIds or by providerIds.';

interface WithOrderSet {
  readonly orderSet: OrderSetRequest;
  readonly collectionMethod: string | null;
}

/** The public service's rules for order sets; the service checks which tests go together. */
export const orderSetRules: readonly InputRule<WithOrderSet>[] = [
  [
    'orderSet',
    'Name at least one lab test or one marker.',
    ({ orderSet }) => orderSet.labTestIds.length > 0 || orderSet.addOn !== null,
    'REQUIRED',
  ],
  [
    'orderSet.addOn',
    nameMarkers,
    ({ orderSet: { addOn } }) => addOn === null || addOn.markerIds.length > 0 || addOn.providerIds.length > 0,
    'REQUIRED',
  ],
  [
    'orderSet.addOn',
    nameMarkers,
    ({ orderSet: { addOn } }) =>
      addOn === null || addOn.markerIds.length === 0 || addOn.providerIds.length === 0,
    'CONFLICT',
  ],
  [
    'collectionMethod',
    'Say how the sample is taken: an order with markers of its own needs it.',
    ({ orderSet, collectionMethod }) => orderSet.addOn === null || collectionMethod !== null,
    'REQUIRED',
  ],
];

/** The specification's bound (Limits) of notes; the service may hold a lab to less. */
export const orderRules: readonly InputRule<NewOrder>[] = [
  ['clinicalNotes', atMost1000, ({ clinicalNotes }) => countCharacters(clinicalNotes) <= 1000, 'TOO_LONG'],
  [
    'activateBy',
    'Give a day that is not over yet.',
    ({ activateBy }) => activateBy === null || !isOver(activateBy),
  ],
];

export const importRules: readonly InputRule<OrderToImport>[] = [
  given('collectionMethod', 'Give collectionMethod or collectionMethodRaw.'),
  given('billingType', 'Give billingType or billingTypeRaw.'),
  given('sampleId', 'Give the number on the sample.'),
  [
    'patientAddress.receiverName',
    giveName,
    ({ patientAddress }) => isGiven(patientAddress.receiverName ?? ''),
    'REQUIRED',
  ],
];

/** Everything that is wrong with patient, address and medical proxy. */
export function findPatientIssues({ patientDetails, patientAddress }: PatientPart): readonly InputIssue[] {
  return [
    ...under('patientDetails', findIssues(patientRules, patientDetails)),
    ...under('patientAddress', findIssues(patientAddressRules, patientAddress)),
    ...under('patientDetails', findProxyIssues(patientDetails.medicalProxy)),
  ];
}

const consentRules: readonly InputRule<NewOrder['consents'][number]>[] = [
  given('consentType', 'Give consentType or consentTypeRaw.'),
];

export function findConsentIssues({ consents }: Pick<NewOrder, 'consents'>): readonly InputIssue[] {
  return consents.flatMap((consent, index) =>
    under('consents', under(String(index), findIssues(consentRules, consent))),
  );
}
