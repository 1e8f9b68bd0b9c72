import { readWord } from '../../graph/arguments.ts';
import { builder, type InputFields } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { addMutation, doneThing, doneType } from '../../graph/mutation-field.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { inPlace, placeIn, requireDifferentNames, withWebhook } from './actions.ts';
import { deleteWebhookWithSecrets } from './gateway-webhook/actions.ts';
import { environmentArgs, mutationRoot, placeFields } from './graph.ts';
import { teamRef } from './graph-teams.ts';
import {
  createWebhook,
  getWebhook,
  getWebhookSecret,
  listWebhookHeaders,
  listWebhooks,
  type NamedWebhook,
  rotateWebhookSecret,
  setWebhookHeaders,
  updateWebhook,
  type Webhook,
  type WebhookHeader,
} from './rest-webhooks.ts';

const headerRef = builder.objectRef<WebhookHeader>('WebhookHeader').implement({
  description: 'A header that the service sends with each message of a webhook.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: 'Its name.' }),
    value: t.exposeString('value', { description: 'Its value; null for a secret.' }),
  }),
});

export const webhookRef = builder.objectRef<Webhook>('Webhook');
webhookRef.implement({
  description: 'An address to which the service sends the events of a team.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the webhook." }),
    url: t.exposeString('url', { description: 'The address.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    rateLimit: t.exposeInt('rateLimit', {
      description: 'How many messages it gets at most; null = no limit.',
    }),
    isDisabled: t.exposeBoolean('isDisabled', {
      nullable: false,
      description: 'Whether nothing is sent to it.',
    }),
    eventTypes: t.exposeStringList('eventTypes', {
      description: 'The types of events that are sent; null = all.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    headers: t.field({
      type: [headerRef],
      description: 'Headers of your own that are sent with each message.',
      resolve: ({ at, id }, _args, context) => listWebhookHeaders(context.service, { at, webhookId: id }),
    }),
  }),
});

const webhookList = connectionField('Webhook', webhookRef, 'webhooks');

builder.objectFields(teamRef, (t) => ({
  webhooks: t.field({
    ...webhookList,
    description: 'Its webhooks in an environment.',
    args: { ...webhookList.args, ...environmentArgs },
    resolve: (team, { environment, ...args }, context) => {
      const at = placeIn(team, environment);
      return cursorConnection(args, listCursors(context, ['webhooks', at]), (start) =>
        listWebhooks(context.service, at, start),
      );
    },
  }),
  webhook: t.field({
    type: webhookRef,
    description: 'One of its webhooks; null when there is none with this id.',
    args: {
      ...environmentArgs,
      id: t.arg.id({ required: true, description: "The service's id of the webhook." }),
    },
    resolve: (team, { environment, id }, context) =>
      getWebhook(context.service, placeIn(team, environment), readWord('id', id)),
  }),
}));

function settingFields(t: InputFields) {
  return {
    description: t.string({ description: 'What it is for.' }),
    rateLimit: t.int({ description: 'How many messages it gets at most; null = no limit.' }),
    isDisabled: t.boolean({ description: 'Whether nothing is sent to it.' }),
    eventTypes: t.stringList({ description: 'The types of events to send; null = all.' }),
  };
}

function webhookFields(t: InputFields) {
  return { ...placeFields(t), id: t.id({ required: true, description: "The service's id of the webhook." }) };
}

const names = { disabled: 'isDisabled', filter_types: 'eventTypes', key: 'secret' };
const secretDescription =
  'A secret of your own: `whsec_` and base64. The service makes one when it is left out.';
const subject = 'webhook';

const webhookField = { name: 'webhook', type: webhookRef, description: 'The webhook as it is now.' };

function idDone(name: string, description: string) {
  return doneType<{ readonly id: string }>(name, description, (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the webhook." }),
  }));
}

/** Changes the webhook that an input names, and says which it was. */
async function changeNamed(
  context: GraphContext,
  input: Parameters<typeof withWebhook>[1],
  change: (named: NamedWebhook) => Promise<unknown>,
) {
  const done = await withWebhook(context, input, change);
  return done === null ? null : { id: input.id };
}

addMutation(mutationRoot, 'createWebhook', {
  description: 'Makes a webhook. `revealWebhookSecret` shows the secret that signs its messages.',
  input: builder.inputType('CreateWebhookInput', {
    description: 'A new webhook.',
    fields: (t) => ({
      ...placeFields(t),
      url: t.string({ required: true, description: 'The address that receives the messages.' }),
      ...settingFields(t),
      secret: t.string({ description: secretDescription }),
    }),
  }),
  done: doneThing('WebhookCreated', 'The webhook was made.', webhookField),
  subject: 'team',
  names,
  run: (context, { orgId, teamId, environment, ...settings }) =>
    inPlace(context, { orgId, teamId, environment }, (at) => createWebhook(context.service, at, settings)),
});

addMutation(mutationRoot, 'updateWebhook', {
  description: 'Changes a webhook.',
  input: builder.inputType('UpdateWebhookInput', {
    description: 'What is to change of a webhook; what is left out stays as it is.',
    fields: (t) => ({
      ...webhookFields(t),
      url: t.string({ description: 'The new address; it cannot be cleared.' }),
      ...settingFields(t),
    }),
  }),
  done: doneThing('WebhookUpdated', 'The webhook was changed.', webhookField),
  subject,
  names,
  run: (context, { orgId, teamId, environment, id, ...settings }) =>
    withWebhook(context, { orgId, teamId, environment, id }, (named) =>
      updateWebhook(context.service, named, settings),
    ),
});

addMutation(mutationRoot, 'deleteWebhook', {
  description:
    'Deletes a webhook: nothing is sent to its address any more. If it is the one of this gateway, its secrets are no longer accepted.',
  input: builder.inputType('DeleteWebhookInput', {
    description: 'The webhook to delete.',
    fields: webhookFields,
  }),
  done: idDone('WebhookDeleted', 'The webhook was deleted.'),
  subject,
  run: (context, input) => changeNamed(context, input, (named) => deleteWebhookWithSecrets(context, named)),
});

const headerInput = builder.inputType('WebhookHeaderInput', {
  description: 'A header to send with each message.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name.' }),
    value: t.string({ required: true, description: 'Its value.' }),
  }),
});

addMutation(mutationRoot, 'setWebhookHeaders', {
  description: 'Replaces the headers of your own that are sent with each message of a webhook.',
  input: builder.inputType('SetWebhookHeadersInput', {
    description: 'All headers of a webhook.',
    fields: (t) => ({
      ...webhookFields(t),
      headers: t.field({
        type: [headerInput],
        required: true,
        description: 'The headers; none removes all.',
      }),
    }),
  }),
  done: idDone('WebhookHeadersSet', 'The headers were replaced.'),
  subject,
  run: async (context, { headers, ...input }) => {
    requireDifferentNames(headers);
    return await changeNamed(context, input, (named) => setWebhookHeaders(context.service, named, headers));
  },
});

addMutation(mutationRoot, 'revealWebhookSecret', {
  description:
    'Shows the secret that signs the messages of a webhook. It changes nothing; it is a mutation so that no query shows a secret.',
  input: builder.inputType('RevealWebhookSecretInput', {
    description: 'The webhook whose secret is to be shown.',
    fields: webhookFields,
  }),
  done: doneType<{ readonly secret: string }>('WebhookSecretRevealed', 'The secret of the webhook.', (t) => ({
    secret: t.exposeString('secret', { nullable: false, description: 'The secret.' }),
  })),
  subject,
  run: (context, input) =>
    withWebhook(context, input, async (named) => {
      const secret = await getWebhookSecret(context.service, named);
      return secret === null ? null : { secret };
    }),
});

addMutation(mutationRoot, 'rotateWebhookSecret', {
  description:
    'Gives a webhook a new secret. Give the receiver both secrets first: for a time the service signs with the old one too.',
  input: builder.inputType('RotateWebhookSecretInput', {
    description: 'The webhook that gets a new secret.',
    fields: (t) => ({ ...webhookFields(t), secret: t.string({ description: secretDescription }) }),
  }),
  done: idDone('WebhookSecretRotated', 'The webhook has a new secret.'),
  subject,
  names,
  run: (context, { secret = null, ...input }) =>
    changeNamed(context, input, (named) => rotateWebhookSecret(context.service, named, secret)),
});
