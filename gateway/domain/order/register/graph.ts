import { readOptionalUuid } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import { mutationResult, usualRefusals } from '../../../graph/mutation-result.ts';
import { needs } from '../../../graph/permissions.ts';
import { physicianRequiredRef } from '../place/graph.ts';
import {
  consentInput,
  patientPartFields,
  readConsents,
  readPatientPart,
} from '../place/graph-patient-input.ts';
import type { Registration } from '../place/rest.ts';
import { orderRef } from '../read/graph.ts';
import { submitRegistration, type TestkitRegistered } from './actions.ts';

const registerTestkitInput = builder.inputType('RegisterTestkitInput', {
  description: 'Who uses a testkit.',
  fields: (t) => ({
    sampleId: t.string({ required: true, description: 'The number printed on the kit.' }),
    userId: t.id({
      description: 'Id of the user who takes the kit over (uuid); left out, it stays with its user.',
    }),
    ...patientPartFields(t),
    consents: t.field({ type: [consentInput], description: 'What the patient has agreed to.' }),
  }),
});

const testkitRegisteredRef = builder.objectRef<TestkitRegistered>('TestkitRegistered').implement({
  description: 'The kit is registered.',
  fields: (t) => ({
    order: t.expose('order', {
      type: orderRef,
      nullable: false,
      description: 'The order as it is now; its user is the one the kit was registered to.',
    }),
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Send it to `orderUpdates` as `after` to see every change from here on.',
    }),
  }),
});

const registerTestkitResult = mutationResult('RegisterTestkitResult', 'The result of registering a kit.', [
  testkitRegisteredRef,
  physicianRequiredRef,
  ...usualRefusals,
]);

function readRegistration(input: typeof registerTestkitInput.$inferInput): Registration {
  return {
    userId: readOptionalUuid('input.userId', input.userId),
    sampleId: input.sampleId.trim(),
    ...readPatientPart(input),
    consents: readConsents(input.consents),
  };
}

builder.mutationField('registerTestkit', (t) =>
  t.field({
    type: registerTestkitResult,
    extensions: needs('read:orders', 'write:orders'),
    description:
      'Registers a testkit by the number on it. With `userId` the kit and its order move to that user. A viewer registers only their own kits.',
    args: { input: t.arg({ type: registerTestkitInput, required: true, description: 'Who uses the kit.' }) },
    resolve: (_root, { input }, context) => submitRegistration(context, readRegistration(input)),
  }),
);
