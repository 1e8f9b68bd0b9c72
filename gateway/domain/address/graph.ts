import { builder } from '../../graph/builder.ts';
import { type Address, toCountry } from './rest.ts';

export const addressRef = builder.objectRef<Address>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    receiverName: t.exposeString('receiverName', {
      description: 'Name of the person who receives what is sent there.',
    }),
    firstLine: t.exposeString('firstLine', { description: 'Street and number.' }),
    secondLine: t.exposeString('secondLine', { description: 'Flat, floor or the like.' }),
    unit: t.exposeString('unit', {
      description:
        'The apartment or unit, if the service sends it separately; `secondLine` has it too when there is no other second line.',
    }),
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
