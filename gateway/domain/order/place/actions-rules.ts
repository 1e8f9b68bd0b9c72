import { countCharacters } from '../../../graph/arguments.ts';
import type { InputIssue } from '../../../graph/user-error.ts';
import { startOfDay } from '../../../parse/dates.ts';
import { isPhoneNumber, toCountry } from '../../address/rest.ts';
import { findProxyIssues, isMinor } from '../../user/actions-demographics.ts';
import type { OrderSetRequest, PatientPart } from './rest-request.ts';

/** A rule of the service for an input, told before the call and with all others at once. */
export interface InputRule<Input> {
  readonly path: readonly string[];
  readonly message: string;
  readonly holds: (input: Input) => boolean;
}

/** What breaks a rule, in the order of the rules. */
export function findIssues<Input>(rules: readonly InputRule<Input>[], input: Input): readonly InputIssue[] {
  return rules.filter((rule) => !rule.holds(input)).map(({ path, message }) => ({ path, message }));
}

export function isGiven(text: string): boolean {
  return text.trim() !== '';
}

export const keyRule: InputRule<{ readonly idempotencyKey: string }> = {
  path: ['idempotencyKey'],
  message: 'Give 1 to 255 characters, new for each new order.',
  holds: ({ idempotencyKey }) => isGiven(idempotencyKey) && countCharacters(idempotencyKey) <= 255,
};

const details = (field: string) => ['patientDetails', field];
const address = (field: string) => ['patientAddress', field];

/** Rules for patient and address (public service: patient input); the postal code is left to the service. */
const patientRules: readonly InputRule<PatientPart>[] = [
  {
    path: details('firstName'),
    message: 'Give a first name of 1 to 50 characters.',
    holds: ({ patientDetails }) => isName(patientDetails.firstName),
  },
  {
    path: details('lastName'),
    message: 'Give a last name of 1 to 50 characters.',
    holds: ({ patientDetails }) => isName(patientDetails.lastName),
  },
  {
    path: details('dob'),
    message: 'Give a day of birth that is not in the future.',
    holds: ({ patientDetails }) => startOfDay(patientDetails.dob).getTime() <= Date.now(),
  },
  {
    path: details('phoneNumber'),
    message: 'Give the phone number in international format, with a leading plus sign.',
    holds: ({ patientDetails }) => isPhoneNumber(patientDetails.phoneNumber),
  },
  {
    path: details('email'),
    message: 'Give an e-mail address.',
    holds: ({ patientDetails }) => isEmail(patientDetails.email),
  },
  {
    path: details('medicalProxy'),
    message: 'A person under 18 needs a medical proxy.',
    holds: ({ patientDetails }) => patientDetails.medicalProxy !== null || !isMinor(patientDetails.dob),
  },
  {
    path: address('firstLine'),
    message: 'Give street and number.',
    holds: ({ patientAddress }) => isGiven(patientAddress.firstLine),
  },
  {
    path: address('city'),
    message: 'Give the city.',
    holds: ({ patientAddress }) => isGiven(patientAddress.city),
  },
  {
    path: address('state'),
    message: 'Give the region code, such as AZ.',
    holds: ({ patientAddress }) => isGiven(patientAddress.state),
  },
  {
    path: address('zip'),
    message: 'Give the postal code.',
    holds: ({ patientAddress }) => isGiven(patientAddress.zip),
  },
  {
    path: address('country'),
    message: 'Give a two-letter country code, such as US.',
    holds: ({ patientAddress }) => toCountry(patientAddress.country).code !== null,
  },
  {
    path: address('accessNotes'),
    message: 'Give at most 1,000 characters.',
    holds: ({ patientAddress }) => countCharacters(patientAddress.accessNotes) <= 1000,
  },
];

/** Everything that is wrong with patient and address, who answers for the patient included. */
export function findPatientIssues(order: PatientPart): readonly InputIssue[] {
  const ofProxy = findProxyIssues(order.patientDetails.medicalProxy);
  return [
    ...findIssues(patientRules, order),
    ...ofProxy.map(({ path, message }) => ({ path: ['patientDetails', ...path], message })),
  ];
}

/** Text, an at sign, and text with a dot inside; the service checks the rest. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@', 1);
  return !/\s/.test(text) && at > 0 && text.lastIndexOf('.', text.length - 2) > at + 1;
}

function isName(text: string): boolean {
  return isGiven(text) && countCharacters(text) <= 50;
}

interface WithOrderSet {
  readonly orderSet: OrderSetRequest;
  readonly collectionMethod: string | null;
}

/** The public service's rules for order sets; which tests go together is left to it. */
export const orderSetRules: readonly InputRule<WithOrderSet>[] = [
  {
    path: ['orderSet'],
    message: 'Name at least one lab test or one marker.',
    holds: ({ orderSet }) => orderSet.labTestIds.length > 0 || orderSet.addOn !== null,
  },
  {
    path: ['orderSet', 'addOn'],
    message: 'Name markers either by markerIds or by providerIds.',
    holds: ({ orderSet: { addOn } }) =>
      addOn === null || addOn.markerIds.length > 0 !== addOn.providerIds.length > 0,
  },
  {
    path: ['collectionMethod'],
    message: 'Say how the sample is taken: an order with markers of its own needs it.',
    holds: ({ orderSet, collectionMethod }) => orderSet.addOn === null || collectionMethod !== null,
  },
];
