import { optional, record, text } from '../parse.ts';

/** An address as the service gives it; `country` may be a code or a full name. */
export type Address = NonNullable<ReturnType<typeof readAddress>>;

/**
 * Reads an address in every form that the service sends. Orders and demographics spell the postal code `zip`, appointments
 * and places `zip_code`, and their samples mix both. `unit` is the deprecated second line (public service).
 */
export const readAddress = optional(
  record((raw) => ({
    receiverName: text(raw.receiver_name),
    firstLine: text(raw.first_line),
    secondLine: text(raw.second_line) || (text(raw.unit) ?? text(raw.second_line)),
    unit: text(raw.unit),
    city: text(raw.city),
    state: text(raw.state),
    zip: text(raw.zip) ?? text(raw.zip_code),
    country: text(raw.country),
    phoneNumber: text(raw.phone_number),
    accessNotes: text(raw.access_notes),
  })),
);
