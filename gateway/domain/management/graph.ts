import { builder, type InputFields } from '../../graph/builder.ts';
import { doneType } from '../../graph/mutation-field.ts';
import { openEnum } from '../../graph/open-enum.ts';

/** The roots of the management graph; `management-schema.ts` names them Query and Mutation. */
export const queryRoot = builder.objectRef<object>('ManagementQuery');
queryRoot.implement({
  description: 'Everything about organizations and their teams that can be read.',
});
export const mutationRoot = builder.objectRef<object>('ManagementMutation');
mutationRoot.implement({
  description: 'Everything about organizations and their teams that can be changed.',
});

export const environment = builder.enumType('Environment', {
  description: 'One of the two environments that a team can have.',
  values: {
    SANDBOX: { description: 'For trials, with invented users.' },
    PRODUCTION: { description: 'For real users.' },
  } as const,
});

export const region = openEnum('Region', 'Where the data of a team is held; a team never moves.', {
  US: 'The United States.',
  EU: 'The European Union.',
});

const orgIdDescription = 'Id of the organization (uuid); that of SERVICE_ORG_ID when left out.';

export function orgField(t: InputFields) {
  return { orgId: t.id({ description: orgIdDescription }) };
}

export function teamFields(t: InputFields) {
  return { ...orgField(t), teamId: t.id({ required: true, description: 'Id of the team (uuid).' }) };
}

/** The fields of an input that name an environment of a team. */
export function placeFields(t: InputFields) {
  return {
    ...teamFields(t),
    environment: t.field({ type: environment, required: true, description: 'The environment of the team.' }),
  };
}

/** The argument of root fields: which organization. */
export const orgArgs = builder.args((t) => ({ orgId: t.id({ description: orgIdDescription }) }));

/** The argument of fields of a team that differ by environment. */
export const environmentArgs = builder.args((t) => ({
  environment: t.field({ type: environment, required: true, description: 'The environment of the team.' }),
}));

/** The fields of an input that deletes several things of a team's environment. */
export function idsToDelete(t: InputFields) {
  return {
    ...placeFields(t),
    ids: t.idList({ required: true, description: 'Their ids (uuids): 1 to 100.' }),
  };
}

interface Deleted {
  readonly deletedIds: readonly string[];
  readonly failedIds: readonly string[];
  readonly missingIds: readonly string[];
}

/** The result of a mutation that deletes several things. */
export function deletedType(name: string, plural: string) {
  return doneType<Deleted>(name, `The outcome for each of the ${plural}.`, (t) => ({
    deletedIds: t.exposeIDList('deletedIds', {
      nullable: false,
      description: 'Ids of those that were deleted.',
    }),
    failedIds: t.exposeIDList('failedIds', {
      nullable: false,
      description: 'Ids of those that the service could not delete.',
    }),
    missingIds: t.exposeIDList('missingIds', {
      nullable: false,
      description: 'Ids that do not exist.',
    }),
  }));
}
