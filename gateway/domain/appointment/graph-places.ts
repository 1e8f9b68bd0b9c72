import { nameRefusedArguments, readIntegerId, readOptionalUuid } from '../../graph/arguments.ts';
import { builder, type Fields } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { openEnum, openEnumFields, openEnumListFields, uniteOpen } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { addressRef } from '../address/graph.ts';
import { findLab, labRef } from '../lab-test/graph.ts';
import { loadOrder } from '../order/read/actions.ts';
import { orderRef } from '../order/read/graph.ts';
import type { Order } from '../order/read/rest-order.ts';
import { addressInputFields } from '../user/graph-demographics.ts';
import { radii, requireRadius, requireZipCode } from './actions.ts';
import { appointmentProvider, coordinatesRef } from './graph.ts';
import type { VisitAddress } from './rest.ts';
import {
  type AreaInfo,
  type AreaLab,
  type AvailabilityPlace,
  getAreaInfo,
  listCentersOfOrder,
  listServiceCenters,
  type PhlebotomyArea,
  type PhlebotomyProvider,
  type ServiceCenter,
} from './rest-places.ts';

export const appointmentAddressInput = builder.inputType('AppointmentAddressInput', {
  description: 'An address in the United States that is visited.',
  fields: (t) => ({
    ...addressInputFields(t, {
      state: 'Two letters of the state, such as AZ.',
      zip: 'Postal code: five digits, or five, a dash and four.',
    }),
    accessNotes: t.string({
      description: 'How the visitor gets to the door: 1,000 characters at most.',
    }),
  }),
});
export type AddressInput = typeof appointmentAddressInput.$inferInput;

export function toVisitAddress(input: AddressInput): VisitAddress {
  const { firstLine, city, state, zip, secondLine = null, accessNotes = null } = input;
  return { firstLine, secondLine, city, state, zip, accessNotes };
}

const serviceType = openEnum('AppointmentServiceType', 'How a provider is engaged.', {
  APPOINTMENT_READY: 'Its slots are booked.',
  APPOINTMENT_REQUEST: 'It is asked for an appointment and names the time.',
});

const capability = openEnum('ServiceCenterCapability', 'What a service center can do.', {
  STAT: 'Urgent tests.',
  APPOINTMENT_SCHEDULING_VIA_JUNCTION: 'Appointments that are booked here.',
  APPOINTMENT_SCHEDULING_WITH_LAB: 'Appointments that the lab itself books.',
});

function centerFields<Parent extends AreaLab | ServiceCenter>(t: Fields<Parent>, abilities: string) {
  return {
    ...openEnumListFields(t, capability, {
      name: 'capabilities',
      description: `${abilities}; only the known values.`,
      raw: `${abilities}, as the service sent it.`,
      read: (parent) => parent.capabilities,
    }),
    supportedBillTypes: t.stringList({
      nullable: false,
      description: 'Who can be billed, as the service sent it, such as client_bill.',
      resolve: (parent) => parent.supportedBillTypes,
    }),
  };
}

/** How far a place is from a zip code. */
export function distanceFields<Parent extends AvailabilityPlace | ServiceCenter>(t: Fields<Parent>) {
  return {
    distance: t.int({
      description: 'Distance from the zip code in miles; null when it is not a whole number.',
      resolve: (place) => place.distance,
    }),
    distanceRaw: t.string({
      description: 'The distance as the service sent it.',
      resolve: (place) => place.distanceRaw,
    }),
  };
}

const providerRef = builder.objectRef<PhlebotomyProvider>('PhlebotomyProvider').implement({
  description: 'A provider that visits patients in an area.',
  fields: (t) => ({
    ...openEnumFields(t, appointmentProvider, {
      name: 'provider',
      description: 'Which one; null when it is not one of these.',
      raw: 'Which one, as the service sent it.',
      isRequired: true,
    }),
    ...openEnumListFields(t, serviceType, {
      name: 'serviceTypes',
      description: 'How it is engaged; only the known values.',
      raw: 'How it is engaged, as the service sent it.',
      read: ({ serviceTypes }) => serviceTypes,
    }),
  }),
});

const phlebotomyAreaRef = builder.objectRef<PhlebotomyArea>('PhlebotomyArea').implement({
  description: 'Who visits patients in an area.',
  fields: (t) => ({
    isServed: t.exposeBoolean('isServed', { description: 'Whether anybody does.' }),
    providers: t.expose('providers', { type: [providerRef], nullable: false, description: 'Who does.' }),
  }),
});

const areaLabRef = builder.objectRef<AreaLab>('AreaLab').implement({
  description: 'What a lab offers in an area.',
  fields: (t) => ({
    labSlug: t.exposeString('labSlug', { nullable: false, description: "The lab's stable identifier." }),
    labId: t.exposeInt('labId', { description: "The service's id of the lab." }),
    lab: t.field({
      type: labRef,
      extensions: needs('read:catalogue'),
      description: 'The lab.',
      resolve: ({ labSlug, labId }, _args, context) =>
        findLab(context, ({ id, slug }) => (labId === null ? slug === labSlug : id === String(labId))),
    }),
    serviceCenterCount: t.exposeInt('centerCount', {
      description: 'How many service centers it has within the radius.',
    }),
    canBookAppointments: t.exposeBoolean('canBook', {
      description: 'Whether appointments at them are booked here.',
    }),
    ...centerFields(t, 'What its centers can do'),
  }),
});

const areaInfoRef = builder.objectRef<AreaInfo>('AreaInfo').implement({
  description: 'What is offered around a zip code.',
  fields: (t) => ({
    zipCode: t.exposeString('zipCode', { description: 'The zip code.' }),
    phlebotomy: t.expose('phlebotomy', {
      type: phlebotomyAreaRef,
      description: 'Who visits patients there.',
    }),
    labs: t.expose('labs', {
      type: [areaLabRef],
      nullable: false,
      description: 'The labs with service centers there.',
    }),
  }),
});

const serviceCenterRef = builder.objectRef<ServiceCenter>('ServiceCenter').implement({
  description: "A lab's patient service center, where samples are taken.",
  fields: (t) => ({
    siteCode: t.exposeString('siteCode', {
      nullable: false,
      description: "The lab's code of the center; give it to serviceCenterAvailability.",
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    address: t.expose('address', { type: addressRef, description: 'Where it is.' }),
    location: t.expose('location', { type: coordinatesRef, description: 'Its coordinates.' }),
    ...distanceFields(t),
    ...centerFields(t, 'What it can do'),
    faxNumber: t.exposeString('faxNumber', { description: 'Its fax number.' }),
    website: t.expose('website', { type: 'URL', description: 'Its page on the web.' }),
    hours: t.expose('hours', { type: 'JSON', description: 'When it is open, as the service sent it.' }),
  }),
});

export const useWithin = 'Use `within`. Removed after 2027-05-31.';

export const radiusEnum = builder.enumType('Radius', {
  description: 'How far around a place a search goes. New values may be added.',
  values: Object.fromEntries(
    radii.map((miles) => [`MILES_${miles}`, { value: miles, description: `Within ${miles} miles.` }]),
  ),
});

/** How far around: the enum, and in its place the number of earlier versions. */
const radiusArguments = builder.args((t) => ({
  within: t.field({ type: radiusEnum, description: 'How far around; 25 miles when left out.' }),
  radius: t.int({
    description: 'How far around, in miles: 10, 20, 25, 50 or 100.',
    deprecationReason: useWithin,
  }),
}));

/** Which centers: those that can do all of this. */
const capabilityArguments = builder.args((t) => ({
  capabilities: t.field({ type: [capability.ref], description: 'Only centers that can do all of this.' }),
  capabilitiesRaw: t.stringList({
    description: 'The same for abilities that the enum lacks, as the service names them.',
  }),
}));

type CenterArguments = Parameters<typeof requireRadius>[0] & {
  readonly capabilities?: readonly string[] | null | undefined;
  readonly capabilitiesRaw?: readonly string[] | null | undefined;
};

function readCenterSearch(args: CenterArguments) {
  return {
    radius: requireRadius(args),
    capabilities: uniteOpen(args.capabilities, args.capabilitiesRaw) ?? [],
  };
}

/** The arguments of searches for places, by the service's names. */
const placeArguments = {
  zip_code: 'zipCode',
  lab_id: 'labId',
  radius: 'within',
  capabilities: 'capabilitiesRaw',
  lab_account_id: 'labAccountId',
};

async function readCenters(
  context: GraphContext,
  { id }: Order,
  search: ReturnType<typeof readCenterSearch>,
) {
  const order = await loadOrder(context, id);
  if (order === null) return null;
  return await nameRefusedArguments(placeArguments, listCentersOfOrder(context.service, order, search));
}

builder.objectField(orderRef, 'serviceCenters', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: [serviceCenterRef],
    description: "The service centers around the patient's address; null where it has none.",
    args: { ...radiusArguments, ...capabilityArguments },
    resolve: (order, args, context) => readCenters(context, order, readCenterSearch(args)),
  }),
);

const accountText = 'What is offered on this lab account (uuid); on any when left out.';

builder.queryFields((t) => ({
  areaInfo: t.field({
    type: areaInfoRef,
    extensions: needs('read:orders'),
    description: 'What is offered around a zip code.',
    args: {
      zipCode: t.arg.string({ required: true, description: 'Five digits.' }),
      ...radiusArguments,
      labAccountId: t.arg.id({ description: accountText }),
    },
    resolve: (_root, args, { service }) =>
      nameRefusedArguments(
        placeArguments,
        getAreaInfo(service, {
          zipCode: requireZipCode('zipCode', args.zipCode),
          radius: requireRadius(args),
          labAccountId: readOptionalUuid('labAccountId', args.labAccountId),
        }),
      ),
  }),
  serviceCenters: t.field({
    type: [serviceCenterRef],
    extensions: needs('read:orders'),
    description: "A lab's service centers around a zip code, nearest first, 30 at most.",
    args: {
      zipCode: t.arg.string({ required: true, description: 'Five digits.' }),
      labId: t.arg.id({ required: true, description: "The service's id of the lab (integer)." }),
      ...radiusArguments,
      ...capabilityArguments,
      labAccountId: t.arg.id({ description: accountText }),
    },
    resolve: (_root, args, { service }) =>
      nameRefusedArguments(
        placeArguments,
        listServiceCenters(service, {
          zipCode: requireZipCode('zipCode', args.zipCode),
          labId: readIntegerId('labId', args.labId),
          ...readCenterSearch(args),
          labAccountId: readOptionalUuid('labAccountId', args.labAccountId),
        }),
      ),
  }),
}));
