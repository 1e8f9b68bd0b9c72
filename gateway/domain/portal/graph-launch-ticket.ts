import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { inputRejectedRef, mutationResult, notFoundRef } from '../../graph/mutation-result.ts';
import { type LaunchTicket, requestLaunchTicket } from './actions-launch-ticket.ts';
import { portalUrlRejectedRef } from './graph.ts';

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
  'What came of asking for a launch ticket.',
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
    nullable: false,
    description:
      'Makes a ticket with which a page opens the portal without ever having its address. The request must say its Origin. Viewer tokens need the scope launch:portal.',
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
