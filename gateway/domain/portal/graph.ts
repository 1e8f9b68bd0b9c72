import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import {
  inputIssueRef,
  inputRejectedRef,
  mutationResult,
  notFoundRef,
  userErrorRef,
  usualRefusals,
} from '../../graph/mutation-result.ts';
import { needs } from '../../graph/permissions.ts';
import {
  type LaunchTicket,
  type PortalUrlCreated,
  type PortalUrlRejected,
  requestLaunchTicket,
  requestPortalUrl,
} from './actions.ts';

const portalContext = builder.enumType('PortalContext', {
  description: 'What a portal link is for.',
  values: {
    LAUNCH: { description: 'To send a user there now: lives for minutes.' },
    COMMUNICATIONS: {
      description:
        'For e-mail or SMS: a short link that is valid for weeks; the user may have to prove who they are. Only for gateway keys.',
    },
  } as const,
});

const portalUrlRef = builder.objectRef<PortalUrlCreated>('PortalUrl').implement({
  description:
    'A link that signs the user in to the patient portal. It is a secret: anybody who has it can use it.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URL', nullable: false, description: 'The link.' }),
    expiresIn: t.exposeInt('expiresIn', {
      nullable: false,
      description: "How long it lives, in the service's own unit, which the specification does not state.",
    }),
  }),
});

/** Shared with the launch tickets, which are refused for the same reason. */
const portalUrlRejectedRef = builder.objectRef<PortalUrlRejected>('PortalUrlRejected').implement({
  description:
    'The service refused to create a link: demographics are missing, or the request is otherwise wrong.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    demographicsMissing: t.exposeBoolean('demographicsMissing', {
      description:
        'True when the user has no demographics, false when some are set, null when that could not be read.',
    }),
    issues: t.expose('issues', {
      type: [inputIssueRef],
      nullable: false,
      description: 'What is wrong, if the service said it.',
    }),
  }),
});

const createPortalUrlResult = mutationResult(
  'CreatePortalUrlResult',
  'The result of asking for a portal link.',
  [portalUrlRef, portalUrlRejectedRef, ...usualRefusals],
);

const createPortalUrlInput = builder.inputType('CreatePortalUrlInput', {
  description: 'For whom and for what a portal link is.',
  fields: (t) => ({
    userId: t.id({
      description: "Id of the user (uuid); a viewer token may leave it out: it is the token's own user.",
    }),
    context: t.field({
      type: portalContext,
      required: true,
      defaultValue: 'LAUNCH',
      description: 'What the link is for.',
    }),
    orderId: t.id({ description: 'Id of an order (uuid) that the link opens.' }),
  }),
});

builder.mutationField('createPortalUrl', (t) =>
  t.field({
    type: createPortalUrlResult,
    extensions: needs('launch:portal'),
    description:
      'Creates a link that lets one user into the patient portal, which shows everything of that user. COMMUNICATIONS is only for gateway keys.',
    args: {
      input: t.arg({ type: createPortalUrlInput, required: true, description: 'For whom and for what.' }),
    },
    resolve: (_root, { input }, context) =>
      requestPortalUrl(context, {
        userId: readOptionalUuid('input.userId', input.userId) ?? context.service.rights.userId,
        context: input.context === 'LAUNCH' ? 'launch' : 'communications',
        orderId: readOptionalUuid('input.orderId', input.orderId),
      }),
  }),
);

const launchTicketRef = builder.objectRef<LaunchTicket>('LaunchTicket').implement({
  description:
    'A ticket for one launch into the patient portal by the page that asked for it: a secret, for 30 seconds.',
  fields: (t) => ({
    ticket: t.exposeString('ticket', {
      nullable: false,
      description:
        'What a form of the page posts as its field `ticket` to `/launch` of this gateway, which sends the browser on.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it ends unless it was used: after 30 seconds, or with the token that asked for it.',
    }),
  }),
});

const createLaunchTicketResult = mutationResult(
  'CreateLaunchTicketResult',
  'The result of asking for a launch ticket.',
  [launchTicketRef, portalUrlRejectedRef, notFoundRef, inputRejectedRef],
);

const createLaunchTicketInput = builder.inputType('CreateLaunchTicketInput', {
  description: 'For whom and for what a launch ticket is.',
  fields: (t) => ({
    userId: t.id({
      description: "Id of the user (uuid); a viewer token may leave it out: it is the token's own user.",
    }),
    orderId: t.id({
      description: "Id of an order (uuid) that the portal opens; left out: the portal's start.",
    }),
  }),
});

builder.mutationField('createLaunchTicket', (t) =>
  t.field({
    type: createLaunchTicketResult,
    extensions: needs('launch:portal'),
    description:
      'Creates a ticket with which a page opens the portal without learning its address. The request needs an Origin header.',
    args: {
      input: t.arg({ type: createLaunchTicketInput, required: true, description: 'For whom and for what.' }),
    },
    resolve: (_root, { input }, context) =>
      requestLaunchTicket(context, {
        userId: readOptionalUuid('input.userId', input.userId) ?? context.service.rights.userId,
        orderId: readOptionalUuid('input.orderId', input.orderId),
      }),
  }),
);
