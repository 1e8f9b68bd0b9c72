import { builder } from '../../graph/builder.ts';
import { toCountry } from './country.ts';

/** An address as the service gives it; `country` may be a code or a full name. */
export interface Address {
  readonly receiverName: string | null;
  readonly firstLine: string | null;
  readonly secondLine: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly zip: string | null;
  readonly country: string | null;
  readonly phoneNumber: string | null;
  readonly accessNotes: string | null;
}

export const addressRef = builder.objectRef<Address>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    receiverName: t.exposeString('receiverName', { description: 'Who receives what is sent there.' }),
    firstLine: t.exposeString('firstLine', { description: 'Street and number.' }),
    secondLine: t.exposeString('secondLine', { description: 'Flat, floor or the like.' }),
    city: t.exposeString('city', { description: 'Name of the city.' }),
    state: t.exposeString('state', { description: 'Region code, such as AZ.' }),
    zip: t.exposeString('zip', { description: 'Postal code.' }),
    country: t.string({
      description: 'Full English name of the country, such as United States.',
      resolve: (address) => toCountry(address.country).name,
    }),
    countryCode: t.string({
      description: 'Two-letter code of the country, such as US; null when the name is not a known one.',
      resolve: (address) => toCountry(address.country).code,
    }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number in international format.' }),
    accessNotes: t.exposeString('accessNotes', { description: 'How a visitor gets to the door.' }),
  }),
});
