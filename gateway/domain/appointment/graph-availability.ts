import { GatewayError } from '../../errors.ts';
import { nameRefusedArguments, requireDayToCome } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { openEnum, openInputFields, requireOpen } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { toDay } from '../../parse/dates.ts';
import { addressRef } from '../address/graph.ts';
import { requireAddress, requireRadius, requireZipCode } from './actions.ts';
import { coordinatesRef } from './graph.ts';
import {
  appointmentAddressInput,
  distanceFields,
  radiusEnum,
  toVisitAddress,
  useWithin,
} from './graph-places.ts';
import {
  type AvailabilityDay,
  type AvailabilityPlace,
  type AvailabilitySlot,
  type CenterSearch,
  listCenterAvailability,
  listPhlebotomyAvailability,
} from './rest-places.ts';

const slotRef = builder.objectRef<AvailabilitySlot>('AvailabilitySlot').implement({
  description: 'A time that can be booked.',
  fields: (t) => ({
    bookingKey: t.exposeString('bookingKey', {
      description: 'Give it to a booking or a reschedule; works once, until `expiresAt`.',
    }),
    startAt: t.expose('startAt', { type: 'DateTime', description: 'When it begins.' }),
    endAt: t.expose('endAt', { type: 'DateTime', description: 'When it ends.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When its booking key ends.' }),
    price: t.exposeFloat('price', { description: 'What it costs, as the service sent it.' }),
    isPriority: t.exposeBoolean('isPriority', { description: 'Whether it is a priority slot.' }),
    availableCount: t.exposeInt('availableCount', { description: 'How many appointments fit into it.' }),
  }),
});

const placeRef = builder.objectRef<AvailabilityPlace>('AvailabilityPlace').implement({
  description: 'The service center whose slots are shown.',
  fields: (t) => ({
    siteCode: t.exposeString('siteCode', { description: "The lab's code of the center." }),
    name: t.exposeString('name', { description: 'Its name.' }),
    address: t.expose('address', { type: addressRef, description: 'Where it is.' }),
    location: t.expose('location', { type: coordinatesRef, description: 'Its coordinates.' }),
    ...distanceFields(t),
  }),
});

const dayRef = builder.objectRef<AvailabilityDay>('AvailabilityDay').implement({
  description: 'One day of slots, at one place.',
  fields: (t) => ({
    date: t.expose('date', { type: 'Date', description: 'The day, at the place.' }),
    timeZone: t.exposeString('timeZone', {
      description: 'Time zone of the place, such as America/Phoenix.',
    }),
    serviceCenter: t.expose('place', {
      type: placeRef,
      description: 'The service center; null for visits at home.',
    }),
    slots: t.expose('slots', {
      type: [slotRef],
      nullable: false,
      description: 'What can be booked on that day; empty when nothing is free.',
    }),
  }),
});

const phlebotomyInput = builder.inputType('PhlebotomyAvailabilityInput', {
  description: 'Where and from when on a visit is wanted.',
  fields: (t) => ({
    address: t.field({
      type: appointmentAddressInput,
      required: true,
      description: 'Where the visit takes place.',
    }),
    startDate: t.field({ type: 'Date', description: 'The first of the 14 days; today when left out.' }),
  }),
});

const centerLab = openEnum('ServiceCenterLab', 'A lab whose service centers take bookings here.', {
  QUEST: 'Quest, in most states.',
  SONORA_QUEST: 'Sonora Quest, in Arizona.',
});

const centerInput = builder.inputType('ServiceCenterAvailabilityInput', {
  description: 'At which centers and from when on an appointment is wanted.',
  fields: (t) => ({
    ...openInputFields(t, centerLab, {
      name: 'lab',
      description: 'Whose centers.',
      raw: 'Whose centers, as the service writes it, for a lab that the enum lacks.',
    }),
    siteCodes: t.stringList({ description: 'Only these centers, 3 at most; else give a zip code.' }),
    zipCode: t.string({ description: 'Centers around this zip code of five digits.' }),
    within: t.field({
      type: radiusEnum,
      description: 'How far around the zip code; 25 miles when left out.',
    }),
    radius: t.int({
      description: 'How far around the zip code, in miles: 10, 20, 25, 50 or 100.',
      deprecationReason: useWithin,
    }),
    startDate: t.field({ type: 'Date', description: 'The first of the 14 days; today when left out.' }),
    allowStale: t.boolean({
      description: 'Whether slots of up to 15 minutes ago will do, where the service has enabled that.',
    }),
  }),
});

function toCenterSearch(input: typeof centerInput.$inferInput): CenterSearch {
  const { siteCodes = null, zipCode = null } = input;
  const lab = requireOpen('input', input, 'lab') ?? '';
  if (lab === '') throw new GatewayError('BAD_USER_INPUT', 'Give input.lab or input.labRaw.');
  if ((siteCodes === null) === (zipCode === null)) {
    throw new GatewayError('BAD_USER_INPUT', 'Give either input.siteCodes or input.zipCode.');
  }
  if (siteCodes !== null && (siteCodes.length === 0 || siteCodes.length > 3)) {
    throw new GatewayError('BAD_USER_INPUT', 'input.siteCodes takes 1 to 3 codes.');
  }
  return {
    lab,
    siteCodes,
    zipCode: zipCode === null ? null : requireZipCode('input.zipCode', zipCode),
    radius: requireRadius(input, 'input.'),
    startDate: requireDayToCome('input.startDate', input.startDate ? toDay(input.startDate) : null),
    allowStale: input.allowStale ?? null,
  };
}

/** The arguments of searches for slots, by the service's names. */
const slotArguments = {
  start_date: 'input.startDate',
  lab: 'input.labRaw',
  site_codes: 'input.siteCodes',
  radius: 'input.within',
  allow_stale: 'input.allowStale',
};

const addressArguments = {
  ...slotArguments,
  first_line: 'input.address.firstLine',
  second_line: 'input.address.secondLine',
  city: 'input.address.city',
  state: 'input.address.state',
  zip_code: 'input.address.zip',
  access_notes: 'input.address.accessNotes',
};

builder.queryFields((t) => ({
  phlebotomyAvailability: t.field({
    type: [dayRef],
    extensions: needs('read:orders'),
    description: 'Fourteen days of slots for a visit at home; empty where nobody comes.',
    args: {
      input: t.arg({ type: phlebotomyInput, required: true, description: 'Where and from when on.' }),
    },
    resolve: (_root, { input }, { service }) =>
      nameRefusedArguments(
        addressArguments,
        listPhlebotomyAvailability(
          service,
          requireAddress(toVisitAddress(input.address)),
          requireDayToCome('input.startDate', input.startDate ? toDay(input.startDate) : null),
        ),
      ),
  }),
  serviceCenterAvailability: t.field({
    type: [dayRef],
    extensions: needs('read:orders'),
    description: 'Slots at service centers, by center and day; empty where there are none.',
    args: {
      input: t.arg({ type: centerInput, required: true, description: 'Which centers and from when on.' }),
    },
    resolve: (_root, { input }, { service }) =>
      nameRefusedArguments(
        { ...slotArguments, zip_code: 'input.zipCode' },
        listCenterAvailability(service, toCenterSearch(input)),
      ),
  }),
}));
