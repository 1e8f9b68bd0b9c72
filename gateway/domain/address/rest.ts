import { optional, record, text } from '../parse.ts';

/** An address as the service gives it; `country` may be a code or a full name. */
export type Address = NonNullable<ReturnType<typeof readAddress>>;

/**
 * Reads an address in every form that the service sends. Orders and demographics spell the postal code `zip`, appointments
 * and places `zip_code`, and their samples mix both. `unit` is the deprecated second line (public service).
 */
export const readAddress = optional(
  record((raw) => ({
    receiverName: text(raw.receiver_name) || null,
    firstLine: text(raw.first_line),
    secondLine: text(raw.second_line) || text(raw.unit) || null,
    unit: text(raw.unit),
    city: text(raw.city),
    state: text(raw.state),
    zip: text(raw.zip) ?? text(raw.zip_code),
    country: text(raw.country),
    phoneNumber: text(raw.phone_number),
    accessNotes: text(raw.access_notes),
  })),
);

/** Made when first needed: the first formatter of a process takes 35 ms, and a start needs none. */
let names: Intl.DisplayNames | null = null;
let codesByName: ReadonlyMap<string, string> | null = null;

/** Names of the runtime that are no country's: test regions, groups of countries, and "unknown". */
const noCountries: ReadonlySet<string> = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

/** The code in use for two letters, such as GB for UK, with the English name of its country; null for all other letters. */
function findCountry(letters: string): { readonly name: string; readonly code: string } | null {
  const code = new Intl.Locale(`und-${letters}`).region ?? letters;
  names ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const name = noCountries.has(code) ? undefined : names.of(code);
  return name === undefined ? null : { name, code };
}

/** Two-letter codes by lower-case English name, from every code the runtime knows a name for; built when first needed. */
function readCodesByName(): ReadonlyMap<string, string> {
  if (codesByName !== null) return codesByName;
  const codes = new Map<string, string>();
  for (const first of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    for (const second of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
      const country = findCountry(`${first}${second}`);
      if (country !== null) codes.set(country.name.toLowerCase(), country.code);
    }
  }
  codesByName = codes;
  return codes;
}

/**
 * A country in both forms. The specification accepts a code and returns a full name; the public sandbox
 * echoes the text it was sent, so both are read.
 */
export function toCountry(text: string | null): {
  readonly name: string | null;
  readonly code: string | null;
} {
  if (text === null) return { name: null, code: null };
  const upper = text.trim().toUpperCase();
  if (/^[A-Z]{2}$/.test(upper)) return findCountry(upper) ?? { name: text, code: null };
  return { name: text, code: readCodesByName().get(text.trim().toLowerCase()) ?? null };
}

/**
 * An address as the specification takes it in a request, with the two-letter code of its country. A text that is no country
 * stays, because a rule refuses it.
 */
export function withCountryCode<Given extends { readonly country: string }>(address: Given): Given {
  return { ...address, country: toCountry(address.country).code ?? address.country };
}

/** Whether a text is a phone number in international format (E.164: 15 digits at most), grouped as people do. */
export function isPhoneNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  return /^\+[1-9][\d ().-]*$/.test(text) && digits >= 7 && digits <= 15;
}
