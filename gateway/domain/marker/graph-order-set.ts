import { GatewayError } from '../../errors.ts';
import { readIds, readIntegerId, readOptionalUuid, readUuids } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import type { OrderSet } from './rest.ts';

const addOnInput = builder.inputType('OrderAddOnInput', {
  description: 'Markers on top of the lab tests, named by either kind of id.',
  fields: (t) => ({
    markerIds: t.idList({ description: 'Ids of markers, 100 at most.' }),
    providerIds: t.stringList({ description: "The lab's own codes of markers, 100 at most." }),
  }),
});

export const orderSetInput = builder.inputType('OrderSetInput', {
  description: 'What is to be tested: lab tests, markers, or both, of one lab and one collection method.',
  fields: (t) => ({
    labTestIds: t.idList({ description: 'Ids of lab tests (uuid), 100 at most.' }),
    addOn: t.field({
      type: addOnInput,
      description: 'Markers on top of the lab tests; an order with them needs `collectionMethod`.',
    }),
  }),
});
type OrderSetInput = typeof orderSetInput.$inferInput;

/** @param place where the input is, such as `input.orderSet` @throws GatewayError BAD_USER_INPUT for a malformed id */
export function readOrderSetInput(place: string, { labTestIds, addOn }: OrderSetInput) {
  const markerIds = `${place}.addOn.markerIds`;
  return {
    labTestIds: readUuids(`${place}.labTestIds`, labTestIds) ?? [],
    addOn: addOn
      ? {
          markerIds: readIds(markerIds, addOn.markerIds).map((id) => readIntegerId(markerIds, id)),
          providerIds: readIds(`${place}.addOn.providerIds`, addOn.providerIds),
        }
      : null,
  };
}

type IdList = readonly string[] | null | undefined;

interface OrderSetArguments {
  readonly orderSet?: OrderSetInput | null | undefined;
  readonly labAccountId?: string | null | undefined;
  readonly labTestIds?: IdList;
  readonly addOnProviderIds?: IdList;
  readonly addOnMarkerIds?: IdList;
}

/** The order set of a query, from `orderSet` or from the arguments of earlier versions. @throws GatewayError BAD_USER_INPUT */
export function readOrderSet(args: OrderSetArguments): OrderSet {
  const { orderSet, labTestIds: older } = args;
  const labAccountId = readOptionalUuid('labAccountId', args.labAccountId) ?? undefined;
  if (!orderSet) {
    return { labTestIds: readUuids('labTestIds', older) ?? [], addOn: readAddOn(args), labAccountId };
  }
  if (older || args.addOnMarkerIds || args.addOnProviderIds) {
    throw new GatewayError('BAD_USER_INPUT', 'Give orderSet, and no ids beside it.');
  }
  const { labTestIds, addOn } = readOrderSetInput('orderSet', orderSet);
  const { markerIds, providerIds } = addOn ?? { markerIds: [], providerIds: [] };
  if (markerIds.length === 0) {
    return { labTestIds, addOn: providerIds.length === 0 ? null : { providerIds }, labAccountId };
  }
  if (providerIds.length === 0) return { labTestIds, addOn: { markerIds }, labAccountId };
  throw new GatewayError('BAD_USER_INPUT', 'Name markers either by markerIds or by providerIds.');
}

function readAddOn({ addOnMarkerIds, addOnProviderIds }: OrderSetArguments): OrderSet['addOn'] {
  const providerIds = readIds('addOnProviderIds', addOnProviderIds);
  const ids = readIds('addOnMarkerIds', addOnMarkerIds);
  if (ids.length === 0) return providerIds.length === 0 ? null : { providerIds };
  if (providerIds.length === 0) return { markerIds: ids.map((id) => readIntegerId('addOnMarkerIds', id)) };
  throw new GatewayError('BAD_USER_INPUT', 'Give addOnMarkerIds or addOnProviderIds, not both.');
}
