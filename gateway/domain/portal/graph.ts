import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import {
  featureNotEnabledRef,
  inputIssueRef,
  inputRejectedRef,
  mutationResult,
  notFoundRef,
  userErrorRef,
} from '../../graph/mutation-result.ts';
import { type PortalUrlCreated, type PortalUrlRejected, requestPortalUrl } from './actions.ts';

const portalContext = builder.enumType('PortalContext', {
  description: 'What a portal link is for.',
  values: {
    LAUNCH: { description: 'To send a user there now: lives for minutes.' },
    COMMUNICATIONS: {
      description: 'For e-mail or SMS: short, lives for weeks; the user may have to prove who they are.',
    },
  } as const,
});

const portalUrlRef = builder.objectRef<PortalUrlCreated>('PortalUrl').implement({
  description:
    'A pre-authorized link into the patient portal: whoever has it is let in, so treat it as a secret.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URL', nullable: false, description: 'The link.' }),
    expiresIn: t.exposeInt('expiresIn', {
      nullable: false,
      description: "How long it lives, in the service's own unit, which the specification does not state.",
    }),
  }),
});

/** Shared with the launch tickets, which are refused for the same reason. */
export const portalUrlRejectedRef = builder.objectRef<PortalUrlRejected>('PortalUrlRejected').implement({
  description:
    'The service refused to create a link: demographics are missing, or the request is otherwise wrong.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    demographicsMissing: t.exposeBoolean('demographicsMissing', {
      description:
        'True when the user has no demographics, false when some are set, null when that could not be read.',
    }),
    issues: t.field({
      type: [inputIssueRef],
      nullable: false,
      description: 'What the service named as wrong, as far as it did.',
      resolve: (error) => error.issues,
    }),
  }),
});

const createPortalUrlResult = mutationResult(
  'CreatePortalUrlResult',
  'What came of asking for a portal link.',
  [portalUrlRef, portalUrlRejectedRef, featureNotEnabledRef, notFoundRef, inputRejectedRef],
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
    nullable: false,
    description:
      'Creates a link that lets one user into the patient portal. Viewer tokens need the scope launch:portal.',
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
