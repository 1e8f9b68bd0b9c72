import { readIntegerId, readOptionalUuid, readRenamed, readUuid, renamedTo } from '../../graph/arguments.ts';
import { builder, type Fields } from '../../graph/builder.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { defineNode } from '../../graph/node.ts';
import {
  openEnum,
  openEnumFields,
  openEnumListFields,
  openInputFields,
  requireOpen,
  usualTexts,
} from '../../graph/open-enum.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { needs } from '../../graph/permissions.ts';
import { labAccountRef } from '../lab-account/graph.ts';
import { expectedResultRef, loadOrderSetMarkers, markerList, markerRef } from '../marker/graph.ts';
import { getLabTest, type Lab, type LabTest, type LabTestFilter, listLabs, listLabTests } from './rest.ts';

export const collectionMethod = openEnum('CollectionMethod', 'How the sample of an order is taken.', {
  TESTKIT: 'A kit is sent to the patient, who sends a sample back.',
  WALK_IN_TEST: 'The patient goes to a patient service center.',
  AT_HOME_PHLEBOTOMY: 'A phlebotomist visits the patient.',
  ON_SITE_COLLECTION: 'The sample is taken on site by the team.',
});

const labTestStatus = openEnum('LabTestStatus', 'Whether a lab test can be ordered.', {
  ACTIVE: 'It can be ordered.',
  PENDING_APPROVAL: 'It waits for approval.',
  INACTIVE: 'It can no longer be ordered.',
});

/** The list of labs, read once per operation: the service has no call for one lab. */
const labList: LoaderKind<'labs', readonly Lab[]> = {
  keyOf: (key) => key,
  batch: (service, keys) => loadEach(keys, () => listLabs(service.forShowing)),
};

function loadLabs(context: GraphContext): Promise<readonly Lab[]> {
  return context.loaders.of(labList).load('labs');
}

/** The first lab for which this holds, or null: one call per operation, for any number of labs. */
export async function findLab(context: GraphContext, isIt: (lab: Lab) => boolean): Promise<Lab | null> {
  return (await loadLabs(context)).find(isIt) ?? null;
}

export const labRef = builder.objectRef<Lab>('Lab').implement({
  description: 'A laboratory.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the lab (integer)." }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    firstLine: t.exposeString('firstLine', { description: 'Street and number.' }),
    city: t.exposeString('city', { description: 'Name of the city.' }),
    zip: t.exposeString('zip', { description: 'Postal code.' }),
    ...openEnumListFields(t, collectionMethod, {
      name: 'collectionMethods',
      description: 'The known ways in which it takes samples.',
      raw: 'How it takes samples, as the service sent it.',
      read: (lab) => lab.collectionMethods,
    }),
    sampleTypesRaw: t.exposeStringList('sampleTypes', {
      nullable: false,
      description: 'The types of samples that it accepts, such as serum, as the service sent them.',
    }),
    logoUrl: t.expose('logoUrl', { type: 'URL', description: 'Address of its logo.' }),
  }),
});

export const labTestRef = builder.objectRef<LabTest>('LabTest');
labTestRef.implement({
  description: 'A test that can be ordered from a lab.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        "The service's id of the lab test (uuid); null where an order names its test only by name.",
    }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    ...openEnumFields(t, collectionMethod, {
      name: 'collectionMethod',
      ...usualTexts('How its sample is taken', 'method'),
      read: ({ method }) => method,
    }),
    ...openEnumFields(t, collectionMethod, {
      name: 'method',
      renamedTo: 'collectionMethod',
      ...usualTexts('How its sample is taken', 'method'),
    }),
    sampleTypeRaw: t.exposeString('sampleType', {
      description: 'What is sampled, as the service sent it, such as serum.',
    }),
    ...openEnumFields(t, labTestStatus, {
      name: 'status',
      ...usualTexts('Whether it can be ordered', 'status'),
    }),
    price: t.exposeFloat('price', { description: 'Its price as the service sent it.' }),
    commonTurnaroundDays: t.exposeInt('commonTurnaroundDays', {
      description: 'How many days results usually take.',
    }),
    worstCaseTurnaroundDays: t.exposeInt('worstCaseTurnaroundDays', {
      description: 'How many days results take at most.',
    }),
    fasting: t.exposeBoolean('fasting', { description: 'Whether the patient must fast.' }),
    lab: t.expose('lab', { type: labRef, description: 'The lab that does it.' }),
    markers: t.field({
      ...markerList,
      extensions: needs('read:orders'),
      description: 'What it measures.',
      resolve: (labTest, args, context) =>
        labTest.id === null
          ? null
          : loadOrderSetMarkers(context, { labTestIds: [labTest.id], addOn: null }, args),
    }),
  }),
});

defineNode(labTestRef, {
  idOf: (labTest) => labTest.id,
  ids: 'uuid',
  needs: 'read:catalogue',
  load: ({ service }, id) => getLabTest(service.forShowing, id),
});

defineNode(labRef, {
  idOf: (lab) => lab.id,
  ids: 'integer',
  needs: 'read:catalogue',
  load: (context, id) => findLab(context, (lab) => lab.id === id),
});

/** The field `lab` beside a `labId`. */
function measuringLab<Parent extends { readonly labId: number | null }>(t: Fields<Parent>) {
  return t.field({
    type: labRef,
    extensions: needs('read:catalogue'),
    description: 'The lab that measures it.',
    resolve: ({ labId }, _args, context) =>
      labId === null ? null : findLab(context, ({ id }) => id === String(labId)),
  });
}

builder.objectField(markerRef, 'lab', measuringLab);
builder.objectField(expectedResultRef, 'lab', measuringLab);

builder.objectField(labAccountRef, 'lab', (t) =>
  t.field({
    type: labRef,
    description: 'The lab that it is with.',
    resolve: ({ labSlug }, _args, context) =>
      findLab(context, ({ slug }) => slug !== null && slug === labSlug),
  }),
);

const labTestList = connectionField('LabTest', labTestRef, 'lab tests');

const labTestFilter = builder.inputType('LabTestFilter', {
  description: 'Which lab tests; all given parts must match.',
  fields: (t) => ({
    labSlug: t.string({ description: 'Only tests of the lab with this slug.' }),
    ...openInputFields(t, collectionMethod, {
      name: 'collectionMethod',
      description: 'Only tests whose sample is taken this way.',
      raw: 'The same for a way that the enum lacks, as the service names it.',
    }),
    method: t.field({
      type: collectionMethod.ref,
      deprecationReason: renamedTo('collectionMethod'),
      description: 'Only tests whose sample is taken this way.',
    }),
    name: t.string({ description: 'Only tests whose name has this text.' }),
    ...openInputFields(t, labTestStatus, {
      name: 'status',
      description: 'Only tests of this status; an order needs an ACTIVE one.',
      raw: 'The same for a status that the enum lacks, as the service names it.',
    }),
    labAccountId: t.id({ description: 'Only tests that can be had on this lab account (uuid).' }),
  }),
});

function readFilter(filter: typeof labTestFilter.$inferInput): LabTestFilter {
  const method = readRenamed({
    'filter.collectionMethod': requireOpen('filter', filter, 'collectionMethod'),
    'filter.method': filter.method?.toLowerCase(),
  });
  return {
    labSlug: filter.labSlug ?? null,
    method,
    name: filter.name ?? null,
    // Absent where they are not asked for, so that the cursors of earlier versions still belong to the list.
    status: requireOpen('filter', filter, 'status') ?? undefined,
    labAccountId: readOptionalUuid('filter.labAccountId', filter.labAccountId) ?? undefined,
  };
}

builder.queryFields((t) => ({
  labTest: t.field({
    type: labTestRef,
    extensions: needs('read:catalogue'),
    description: 'One lab test by id; null when there is none.',
    args: {
      id: t.arg.id({ required: true, description: "The lab test's id (uuid)." }),
      labAccountId: t.arg.id({ description: 'The lab account that it is to be had on (uuid).' }),
    },
    resolve: (_root, { id, labAccountId }, { service }) =>
      getLabTest(service.forShowing, readUuid('id', id), {
        labAccountId: readOptionalUuid('labAccountId', labAccountId),
      }),
  }),
  labTests: t.field({
    ...labTestList,
    extensions: needs('read:catalogue'),
    description:
      "The team's lab tests, in the order of the service. Of all statuses unless `filter.status` says which: only an ACTIVE one can be ordered.",
    args: {
      ...labTestList.args,
      filter: t.arg({ type: labTestFilter, description: 'Which lab tests; all of them when left out.' }),
    },
    resolve: (_root, { filter, ...args }, context) => {
      const asked = readFilter(filter ?? {});
      return cursorConnection(args, listCursors(context, ['labTests', asked]), (request) =>
        listLabTests(context.service.forShowing, asked, request),
      );
    },
  }),
  lab: t.field({
    type: labRef,
    extensions: needs('read:catalogue'),
    description: 'One lab by id; null when there is none.',
    args: { id: t.arg.id({ required: true, description: "The service's id of the lab (integer)." }) },
    resolve: (_root, args, context) => {
      const id = String(readIntegerId('id', args.id));
      return findLab(context, (lab) => lab.id === id);
    },
  }),
  labs: t.field({
    type: [labRef],
    extensions: needs('read:catalogue'),
    description: 'The labs the team can order from.',
    resolve: (_root, _args, context) => loadLabs(context),
  }),
}));
