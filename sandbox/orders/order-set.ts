import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { requireLabTest } from '../http/require.ts';
import { type LabTest, labIdOf, type Marker } from '../world/catalogue.ts';
import { seededUuid } from '../world/ids.ts';
import { ownLabAccounts, type World } from '../world/world.ts';
import type { CollectionMethod } from './states.ts';

export const collectionMethod = z.enum([
  'testkit',
  'walk_in_test',
  'at_home_phlebotomy',
  'on_site_collection',
]);

/** Lab tests and single markers (public service: OrderSetRequest). */
export const orderSet = z.object({
  lab_test_ids: z.array(z.guid()).nullish(),
  add_on: z
    .object({
      marker_ids: z.array(z.number().int()).nullish(),
      provider_ids: z.array(z.string()).nullish(),
    })
    .nullish(),
});

export const aoeAnswers = z
  .array(z.object({ marker_id: z.number().int(), question_id: z.number().int(), answer: z.string() }))
  .nullish();

interface OrderSetRequest {
  readonly order_set?: z.output<typeof orderSet> | null | undefined;
  readonly lab_test_id?: string | null | undefined;
  readonly collection_method?: CollectionMethod | null | undefined;
}

/** An order set as one lab test: one of the catalogue, or one made for it. */
interface Resolved {
  readonly labTest: LabTest;
  readonly isGenerated: boolean;
  readonly markers: readonly Marker[];
}

function findAddOns({ catalogue }: World, request: OrderSetRequest): readonly Marker[] {
  const addOn = request.order_set?.add_on;
  if (!addOn) return [];
  const markerIds = addOn.marker_ids ?? [];
  const providerIds = addOn.provider_ids ?? [];
  if (!request.collection_method) throw refuse(400, 'collection_method is required with add_on');
  if (markerIds.length === 0 && providerIds.length === 0) throw refuse(400, 'add_on must name markers');
  if (markerIds.length > 0 && providerIds.length > 0) {
    throw refuse(400, 'add_on takes either marker_ids or provider_ids');
  }
  const markers = catalogue.markers.filter(
    (marker) => markerIds.includes(marker.id) || providerIds.includes(marker.provider_id),
  );
  if (markers.length < markerIds.length + providerIds.length) throw refuse(400, 'Marker does not exist');
  return markers;
}

function only<Value>(values: readonly Value[], refusal: string): Value {
  const [value, another] = new Set(values);
  if (value === undefined || another !== undefined) throw refuse(400, refusal);
  return value;
}

/**
 * The lab test of an order set.
 * @throws Refusal 400 or 404, one for each rule of the public service
 */
export function resolveOrderSet(world: World, request: OrderSetRequest): Resolved {
  const ids = [
    ...(request.order_set?.lab_test_ids ?? []),
    ...(request.lab_test_id ? [request.lab_test_id] : []),
  ];
  const labTests = ids.map((id) => requireLabTest(world, id));
  const addOns = findAddOns(world, request);
  if (labTests.length + addOns.length === 0) {
    throw refuse(400, 'Either lab_test_id or order_set must be set');
  }
  const labId = only(
    [...labTests.map((each) => each.labId), ...addOns.map((each) => each.lab_id)],
    'All tests must be of one lab',
  );
  const method = only(
    [
      ...labTests.map((each) => each.method),
      ...(request.collection_method ? [request.collection_method] : []),
    ],
    'All tests must have one collection method',
  );
  const markerIds = new Set([
    ...labTests.flatMap((each) => each.markerIds),
    ...addOns.map((marker) => marker.id),
  ]);
  const markers = world.catalogue.markers.filter((marker) => markerIds.has(marker.id));
  const [first] = labTests;
  if (first && labTests.length === 1 && addOns.length === 0) {
    return { labTest: first, isGenerated: false, markers };
  }
  return {
    labTest: generate(world, { labTests, addOns, labId, method, markers }),
    isGenerated: true,
    markers,
  };
}

interface Ingredients {
  readonly labTests: readonly LabTest[];
  readonly addOns: readonly Marker[];
  readonly labId: number;
  readonly method: CollectionMethod;
  readonly markers: readonly Marker[];
}

function generate(world: World, { labTests, addOns, labId, method, markers }: Ingredients): LabTest {
  const { seed, counters } = world.state;
  const name = [...labTests.map((each) => each.name), ...addOns.map((marker) => marker.name)].join(' + ');
  return {
    id: seededUuid(seed, 'generated-lab-test', counters.orders),
    slug: `order-set-${counters.orders}`,
    name,
    description: 'Made for one order set.',
    method,
    sampleType: labTests[0]?.sampleType ?? 'serum',
    price: labTests.reduce((sum, each) => sum + each.price, 0),
    fasting: labTests.some((each) => each.fasting),
    labId,
    markerIds: markers.map((marker) => marker.id),
  };
}

// Lenient: a marker without questions has null here.
const questionsOf = z
  .object({ questions: z.array(z.object({ id: z.number(), required: z.boolean() })) })
  .nullable()
  .catch(null);

/** @throws Refusal 400 when a marker's required question is not answered */
export function requireAnswers(markers: readonly Marker[], answers: z.output<typeof aoeAnswers>): void {
  const isAnswered = (markerId: number, questionId: number) =>
    answers?.some((each) => each.marker_id === markerId && each.question_id === questionId) ?? false;
  const isComplete = markers.every((marker) =>
    (questionsOf.parse(marker.aoe)?.questions ?? []).every(
      (question) => !question.required || isAnswered(marker.id, question.id),
    ),
  );
  if (!isComplete) throw refuse(400, 'Missing required questions');
}

/** The needs of an order towards its lab account. */
interface AccountRequest {
  readonly labAccountId: string | null;
  readonly labId: number;
  readonly hasPhysician: boolean;
  /** An imported order may use an account that is still pending (specification: import). */
  readonly mayBePending: boolean;
}

/**
 * The default comments of the order's account: the one that is named, else the lab's first.
 * @throws Refusal 400 when it cannot be used, or when the client must bring a physician and brings none
 */
export function chooseLabAccount(world: World, request: AccountRequest): string | null {
  const accounts = ownLabAccounts(world);
  const account =
    request.labAccountId === null
      ? accounts.find((each) => labIdOf(each.lab) === request.labId && each.status === 'active')
      : accounts.find((each) => each.id === request.labAccountId?.toLowerCase());
  if (!account && request.labAccountId === null) return null;
  const isOpen = account?.status === 'active' || (request.mayBePending && account?.status === 'pending');
  if (!account || !isOpen) throw refuse(400, 'The lab account cannot be used');
  if (labIdOf(account.lab) !== request.labId) throw refuse(400, 'The lab account is of another lab');
  const bringsPhysicians =
    account.delegated_flow === 'order_delegated' || account.delegated_flow === 'fully_delegated';
  if (bringsPhysicians && !request.hasPhysician) throw refuse(400, 'The lab account requires a physician');
  return account.default_clinical_notes;
}
