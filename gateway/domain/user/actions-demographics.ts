import { countCharacters } from '../../graph/arguments.ts';
import type { GraphContext } from '../../graph/context.ts';
import { findIssues, given, type InputRule, isGiven, under } from '../../graph/input-rules.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
  toRefusal,
  userNeeded,
} from '../../graph/user-error.ts';
import { startOfDay } from '../../parse/dates.ts';
import { isPhoneNumber, toCountry } from '../address/rest.ts';
import {
  type Demographics,
  type NewDemographics,
  type NewHomeAddress,
  type NewMedicalProxy,
  updateDemographics,
} from './rest-demographics.ts';

export interface DemographicsUpdated {
  readonly kind: 'DemographicsUpdated';
  readonly userId: string;
  readonly demographics: Demographics;
}

/**
 * Sets the whole demographics record of a user; what is left out is gone afterwards, so repeating a call
 * whose answer was lost does no harm.
 * @param userId null where a server of the team names none
 * @param more issues that were found while the input was read
 * @throws GatewayError FORBIDDEN without the scope write:profile, UPSTREAM_*
 */
export async function requestDemographics(
  context: GraphContext,
  {
    userId,
    person,
    more,
  }: {
    readonly userId: string | null;
    readonly person: NewDemographics;
    readonly more: readonly InputIssue[];
  },
): Promise<DemographicsUpdated | InputRejected | NotFound | FeatureNotEnabled> {
  const { service } = context;
  if (userId === null) return userNeeded();
  const issues = [...findDemographicsIssues(person), ...more];
  if (issues.length > 0) return inputRejected(issues);
  try {
    const demographics = await updateDemographics(service, userId, person);
    return demographics === null ? notFound('user') : { kind: 'DemographicsUpdated', userId, demographics };
  } catch (error) {
    return toRefusal(error);
  }
}

const nameRule =
  "Give 1 to 50 of the letters a to z, digits, and - . , ' with single spaces inside; no accents.";
const phoneRule = 'Give the phone number in international format, such as +16025550100; +1 555 is no area.';

/** No accents, a letter or digit first, single spaces inside (public service: the pattern of names). */
function isName(text: string): boolean {
  return text.length <= 50 && /^[a-zA-Z0-9][a-zA-Z0-9.,'-]*(\s[a-zA-Z0-9.,'-]+)*$/.test(text);
}

/** Numbers of the area 555 are refused (public service, observed). */
function isPersonsNumber(text: string): boolean {
  return isPhoneNumber(text) && !/^\+1[ ().-]*555/.test(text);
}

type Place = Pick<NewHomeAddress, 'firstLine' | 'city' | 'state' | 'zip' | 'country'>;

/** The rules for every address, also that of an order; the service checks the rest. */
export const addressRules: readonly InputRule<Place>[] = [
  given('firstLine', 'Give the street and number.'),
  given('city', 'Give the city.'),
  given('state', 'Give the region code, such as AZ.'),
  given('zip', 'Give the postal code.'),
  [
    'country',
    'Give a two-letter country code, such as US.',
    ({ country }) => toCountry(country).code !== null,
  ],
];

/** At most 1,000 characters (public service). */
export const accessNotesRule: InputRule<Pick<NewHomeAddress, 'accessNotes'>> = [
  'accessNotes',
  'Give 1,000 characters at most.',
  ({ accessNotes }) => countCharacters(accessNotes) <= 1000,
  'TOO_LONG',
];

/** The public service's rules for patient input. */
const homeAddressRules: readonly InputRule<NewHomeAddress>[] = [
  ...addressRules,
  ['state', 'Give two letters in the United States and Canada, such as AZ.', hasRegion],
  ['zip', 'Give five digits in the United States, or nine as 85004-1234.', hasZip],
  accessNotesRule,
];

/** Codes of regions have two letters in these countries; others have LND, IDF or 75 (ISO 3166-2). */
function hasRegion({ country, state }: NewHomeAddress): boolean {
  const { code } = toCountry(country);
  return !isGiven(state) || (code !== 'US' && code !== 'CA') || /^[A-Za-z]{2}$/.test(state);
}

function hasZip({ country, zip }: NewHomeAddress): boolean {
  return !isGiven(zip) || toCountry(country).code !== 'US' || /^\d{5}(-\d{4})?$/.test(zip);
}

const personRules: readonly InputRule<NewDemographics>[] = [
  ['firstName', nameRule, ({ firstName }) => isName(firstName)],
  ['lastName', nameRule, ({ lastName }) => isName(lastName)],
  ['email', 'Give an e-mail address.', ({ email }) => isEmail(email)],
  ['phoneNumber', phoneRule, ({ phoneNumber }) => isPersonsNumber(phoneNumber)],
  given('gender', 'Give the gender.'),
  ['dob', 'Give a day that is not in the future.', ({ dob }) => !isFuture(dob)],
  [
    'medicalProxy',
    'A person under 18 needs a medical proxy.',
    ({ medicalProxy, dob }) => medicalProxy !== null || !isMinor(dob),
    'REQUIRED',
  ],
];

/** Text, an at sign, and text with a dot inside; the service checks the rest. */
export function isEmail(text: string): boolean {
  const at = text.indexOf('@', 1);
  return !/\s/.test(text) && at > 0 && text.lastIndexOf('.', text.length - 2) > at + 1;
}

/** Somewhere on earth it may be tomorrow already: 14 hours ahead of UTC at most. */
function isFuture(day: string): boolean {
  return startOfDay(day).getTime() > Date.now() + 14 * 60 * 60 * 1000;
}

/** Whether a person born on this day is under 18. */
export function isMinor(day: string): boolean {
  const born = startOfDay(day);
  const ofAge = new Date(Date.UTC(born.getUTCFullYear() + 18, born.getUTCMonth(), born.getUTCDate()));
  return !isFuture(day) && ofAge.getTime() > Date.now();
}

/** Everything that the service would refuse in a whole record, with paths in the names of the graph. */
function findDemographicsIssues(person: NewDemographics): readonly InputIssue[] {
  return [
    ...findIssues(personRules, person),
    ...under('address', findIssues(homeAddressRules, person.address)),
    ...findProxyIssues(person.medicalProxy),
  ];
}

/** The service has no pattern for a medical proxy (public service: GuarantorDetails), so only missing or unusable values are refused. */
const proxyRules: readonly InputRule<NewMedicalProxy>[] = [
  given('firstName', 'Give the first name.'),
  given('lastName', 'Give the last name.'),
  [
    'phoneNumber',
    'Give the phone number in international format, with a leading plus sign.',
    ({ phoneNumber }) => isPhoneNumber(phoneNumber),
  ],
];

/** The issues of a medical proxy, with paths that begin with `medicalProxy`; none for null. */
export function findProxyIssues(proxy: NewMedicalProxy | null): readonly InputIssue[] {
  if (proxy === null) return [];
  const ofAddress = under('address', findIssues([...addressRules, accessNotesRule], proxy.address));
  return under('medicalProxy', [...findIssues(proxyRules, proxy), ...ofAddress]);
}
