import { builder } from '../../../graph/builder.ts';
import type { TestEventOutcome } from '../../../graph/context.ts';
import { addMutation, doneType } from '../../../graph/mutation-field.ts';
import { userErrorRef } from '../../../graph/mutation-result.ts';
import { mutationRoot, placeFields } from '../graph.ts';
import { webhookRef } from '../graph-webhooks.ts';
import type { Webhook } from '../rest-webhooks.ts';
import { type GatewayAddressUnknown, registerGatewayWebhook, rotateGatewayWebhookSecret } from './actions.ts';

const addressUnknownRef = builder.objectRef<GatewayAddressUnknown>('GatewayAddressUnknown').implement({
  description:
    'The gateway does not know its public address, because PUBLIC_URL is not set; nothing was done.',
  interfaces: [userErrorRef],
});

const testEventOutcome = builder.enumType('TestEventOutcome', {
  description:
    'What became of the test event, which the gateway signs with the secret of the webhook and sends to its own public address.',
  values: {
    ARRIVED: { description: 'It arrived and was stored: the address and the secret are right.' },
    OTHER_TEAM: {
      description: 'It arrived, but this gateway delivers the events of another team: see SERVICE_TEAM_ID.',
    },
    NOT_ARRIVED: {
      description: 'It did not arrive within 15 seconds: see PUBLIC_URL, and what is before it.',
    },
  } as const,
});

interface Tried {
  readonly webhook: Webhook;
  readonly testEvent: TestEventOutcome;
}

const webhookDescription = 'The webhook as it is now.';
const testEventDescription = 'What became of the test event.';

addMutation(mutationRoot, 'registerGatewayWebhook', {
  description:
    'Sets up the webhook of this gateway: makes or finds the one with its public address, accepts its secret from now on, and sends a test event. It can be repeated.',
  input: builder.inputType('RegisterGatewayWebhookInput', {
    description: 'The environment of a team whose events this gateway is to receive.',
    fields: placeFields,
  }),
  done: doneType<Tried & { readonly isNew: boolean }>(
    'GatewayWebhookRegistered',
    'The service sends its events to this gateway.',
    (t) => ({
      webhook: t.expose('webhook', { type: webhookRef, nullable: false, description: webhookDescription }),
      isNew: t.exposeBoolean('isNew', {
        nullable: false,
        description: 'Whether the webhook was made now; false = it was there already.',
      }),
      testEvent: t.expose('testEvent', {
        type: testEventOutcome,
        nullable: false,
        description: testEventDescription,
      }),
    }),
  ),
  subject: 'team',
  refusals: [addressUnknownRef],
  run: registerGatewayWebhook,
});

addMutation(mutationRoot, 'rotateGatewayWebhookSecret', {
  description:
    'Gives the webhook of this gateway a new secret. The gateway accepts the new one first, and the old one for as long as the service signs with both.',
  input: builder.inputType('RotateGatewayWebhookSecretInput', {
    description: 'The environment of a team whose webhook points at this gateway.',
    fields: placeFields,
  }),
  done: doneType<Tried>('GatewayWebhookSecretRotated', 'The service signs with a new secret.', (t) => ({
    webhook: t.expose('webhook', { type: webhookRef, nullable: false, description: webhookDescription }),
    testEvent: t.expose('testEvent', {
      type: testEventOutcome,
      nullable: false,
      description: testEventDescription,
    }),
  })),
  subject: 'webhook',
  refusals: [addressUnknownRef],
  run: rotateGatewayWebhookSecret,
});
