import { GatewayError } from '../../errors.ts';
import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder, type DefineFields } from '../../graph/builder.ts';
import { defineNode } from '../../graph/node.ts';
import { openEnum, openEnumFields, openInputFields, requireOpen, usualTexts } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import {
  type AllowedBilling,
  isSuppliedWithOwnPhysicians,
  type LabAccount,
  listLabAccounts,
} from './rest.ts';

const labAccountStatus = openEnum('LabAccountStatus', 'Whether orders can be placed on a lab account.', {
  ACTIVE: 'Orders can be placed on it.',
  PENDING: 'It is being set up; only imported orders may use it.',
  SUSPENDED: 'No orders can be placed on it.',
  READY_TO_LAUNCH: 'It is set up and waits for its launch.',
});

const delegatedFlow = openEnum('DelegatedFlow', 'Whose physicians order and who follows critical results.', {
  ORDER_DELEGATED: "The team's own physicians order; the service follows critical results.",
  RESULT_DELEGATED: "The service's physicians order; the team follows critical results.",
  FULLY_DELEGATED: "The team's own physicians order, and the team follows critical results.",
  NOT_DELEGATED: "The service's physicians order, and the service follows critical results.",
});

const allowedBillingRef = builder.objectRef<AllowedBilling>('AllowedBilling').implement({
  description: 'A kind of billing and where it is allowed.',
  fields: (t) => ({
    typeRaw: t.exposeString('type', {
      nullable: false,
      description: 'The kind of billing as the service sent it, such as client_bill.',
    }),
    states: t.exposeStringList('states', {
      nullable: false,
      description: 'Two-letter codes of the US states it is allowed in.',
    }),
  }),
});

/** What both graphs show of an account. */
export const labAccountFields: DefineFields<LabAccount> = (t) => ({
  id: t.exposeID('id', { nullable: false, description: "The service's id of the account (uuid)." }),
  labSlug: t.exposeString('labSlug', { description: 'Stable identifier of the lab, as in Lab.slug.' }),
  orgId: t.exposeID('orgId', { description: 'Id of the organization it belongs to.' }),
  ...openEnumFields(t, labAccountStatus, {
    name: 'status',
    ...usualTexts('Whether orders can be placed on it', 'status'),
  }),
  ...openEnumFields(t, delegatedFlow, {
    name: 'delegatedFlow',
    ...usualTexts('Whose physicians order', 'flow'),
  }),
  suppliesOwnPhysicians: t.boolean({
    description:
      "Whether orders on it must name the team's own physician; null when the flow is not a known one.",
    resolve: (account) => isSuppliedWithOwnPhysicians(account.delegatedFlow),
  }),
  providerAccountId: t.exposeString('providerAccountId', {
    description: "The lab's own number of the account; leading zeros matter.",
  }),
  accountName: t.exposeString('accountName', { description: "The team's name for it." }),
  defaultClinicalNotes: t.exposeString('defaultClinicalNotes', {
    description: 'Notes that every order on it carries, in front of the notes of the order.',
  }),
  businessUnits: t.exposeStringList('businessUnits', {
    nullable: false,
    description: 'Business units of the team that it is for.',
  }),
  allowedBilling: t.expose('allowedBilling', {
    type: [allowedBillingRef],
    nullable: false,
    description: 'How orders on it may be billed, and where.',
  }),
});

export const labAccountRef = builder.objectRef<LabAccount>('LabAccount').implement({
  description: 'An account of the team with a lab.',
  fields: labAccountFields,
});

defineNode(labAccountRef, {
  idOf: (account) => account.id,
  ids: 'uuid',
  needs: 'gateway-key',
  load: async ({ service }, id) => {
    const [account = null] = await listLabAccounts(service.forShowing, { id, status: null });
    return account;
  },
});

const filterInput = builder.inputType('LabAccountFilter', {
  description: 'Which lab accounts; all given parts must match.',
  fields: (t) =>
    openInputFields(t, labAccountStatus, {
      name: 'status',
      description: 'Only accounts of this status.',
      raw: 'The same for a status that the enum lacks, as the service names it.',
    }),
});

/** @param old the status in the argument that is deprecated */
function readStatus(filter: typeof filterInput.$inferInput, old: string | null): string | null {
  const status = requireOpen('filter', filter, 'status');
  if (status === null || old === null) return status ?? old;
  throw new GatewayError('BAD_USER_INPUT', 'Give either filter or status.');
}

builder.queryField('labAccounts', (t) =>
  t.field({
    type: [labAccountRef],
    extensions: needs('gateway-key'),
    description: "The team's accounts with labs.",
    args: {
      id: t.arg.id({ description: 'Only the account with this id (uuid).' }),
      filter: t.arg({ type: filterInput, description: 'Which accounts; all of them when left out.' }),
      status: t.arg.string({
        description: 'Only accounts of this status: one of LabAccountStatus, or any text the service knows.',
        deprecationReason: 'Use `filter`. Removed after 2027-05-31.',
      }),
    },
    resolve: (_root, args, context) =>
      listLabAccounts(context.service.forShowing, {
        id: readOptionalUuid('id', args.id),
        status: readStatus(args.filter ?? {}, args.status?.toLowerCase() ?? null),
      }),
  }),
);
