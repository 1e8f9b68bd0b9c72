import { z } from 'zod';
import { countCharacters } from '../../graph/arguments.ts';
import type { GraphContext } from '../../graph/context.ts';
import { findIssues, type InputRule, isGiven } from '../../graph/input-rules.ts';
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
 * @param more what the reading of the input has found wrong already
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
  service.rights.require('write:profile');
  if (userId === null) return userNeeded();
  const issues = [...findDemographicsIssues(person), ...more];
  if (issues.length > 0) return inputRejected(issues);
  try {
    const demographics = await updateDemographics(service, userId, person);
    context.loaders.clear();
    return demographics === null ? notFound('user') : { kind: 'DemographicsUpdated', userId, demographics };
  } catch (error) {
    return toRefusal(error);
  }
}

const nameRule =
  "Give 1 to 50 of the letters a to z, digits, and - . , ' with single spaces inside; no accents.";
const phoneRule = 'Give the phone number in international format, such as +16025550100; +1 555 is no area.';
const email = z.email();

/** No accents, a letter or digit first, single spaces inside (public service: the pattern of names). */
function isName(text: string): boolean {
  return text.length <= 50 && /^[a-zA-Z0-9][a-zA-Z0-9.,'-]*(\s[a-zA-Z0-9.,'-]+)*$/.test(text);
}

/** Numbers of the area 555 are refused (public service, observed). */
function isPersonsNumber(text: string): boolean {
  return isPhoneNumber(text) && !/^\+1[ ().-]*555/.test(text);
}

/** The public service's rules for patient input. */
const addressRules: readonly InputRule<NewHomeAddress>[] = [
  { path: ['firstLine'], message: 'Give street and number.', holds: (address) => isGiven(address.firstLine) },
  { path: ['city'], message: 'Give the city.', holds: (address) => isGiven(address.city) },
  {
    path: ['state'],
    message: 'Give the two-letter region code, such as AZ.',
    holds: (address) => /^[A-Za-z]{2}$/.test(address.state),
  },
  {
    path: ['zip'],
    message: 'Give the postal code; in the United States five digits, or nine as 85004-1234.',
    holds: (address) =>
      toCountry(address.country).code === 'US' ? /^\d{5}(-\d{4})?$/.test(address.zip) : isGiven(address.zip),
  },
  {
    path: ['country'],
    message: 'Give a two-letter country code, such as US.',
    holds: (address) => toCountry(address.country).code !== null,
  },
  {
    path: ['accessNotes'],
    message: 'Give 1,000 characters at most.',
    holds: (address) => countCharacters(address.accessNotes) <= 1000,
  },
];

const proxyRules: readonly InputRule<NewMedicalProxy>[] = [
  { path: ['firstName'], message: nameRule, holds: (proxy) => isName(proxy.firstName) },
  { path: ['lastName'], message: nameRule, holds: (proxy) => isName(proxy.lastName) },
  { path: ['phoneNumber'], message: phoneRule, holds: (proxy) => isPersonsNumber(proxy.phoneNumber) },
  {
    path: ['email'],
    message: 'Give an e-mail address.',
    holds: (proxy) => proxy.email === null || email.safeParse(proxy.email).success,
  },
];

const personRules: readonly InputRule<NewDemographics>[] = [
  { path: ['firstName'], message: nameRule, holds: (person) => isName(person.firstName) },
  { path: ['lastName'], message: nameRule, holds: (person) => isName(person.lastName) },
  {
    path: ['email'],
    message: 'Give an e-mail address.',
    holds: (person) => email.safeParse(person.email).success,
  },
  { path: ['phoneNumber'], message: phoneRule, holds: (person) => isPersonsNumber(person.phoneNumber) },
  { path: ['gender'], message: 'Give the gender.', holds: (person) => isGiven(person.gender) },
  {
    path: ['dob'],
    message: 'Give a day that is not in the future.',
    holds: (person) => !isFuture(person.dob),
  },
  {
    path: ['medicalProxy'],
    message: 'A person under 18 needs a medical proxy.',
    holds: (person) => person.medicalProxy !== null || !isMinor(person.dob),
  },
];

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
    ...findIssues(addressRules, person.address, ['address']),
    ...findProxyIssues(person.medicalProxy),
  ];
}

/** The same for who answers for a person, with paths from `medicalProxy` on; none are fine where nobody needs to. */
export function findProxyIssues(proxy: NewMedicalProxy | null): readonly InputIssue[] {
  if (proxy === null) return [];
  return [
    ...findIssues(proxyRules, proxy, ['medicalProxy']),
    ...findIssues(addressRules, proxy.address, ['medicalProxy', 'address']),
  ];
}
