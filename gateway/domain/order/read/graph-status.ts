import { builder } from '../../../graph/builder.ts';
import { collectionMethod } from '../../lab-test/graph.ts';
import { type OrderStatus, type OrderStep, orderSteps } from './rest-status.ts';

const orderStageRef = builder.enumType('OrderStage', {
  description:
    'The stages an order passes. Not always forward: a registered kit goes back to RECEIVED for a while.',
  values: {
    RECEIVED: { description: 'The order is placed and being prepared.' },
    COLLECTING_SAMPLE: { description: 'The sample is being taken or travels.' },
    SAMPLE_WITH_LAB: { description: 'The lab has the sample.' },
    COMPLETED: { description: 'The results are ready.' },
    CANCELLED: { description: 'The order was cancelled.' },
    FAILED: { description: 'The order could not be carried out.' },
    UNKNOWN: { description: 'A stage this gateway does not know yet; see `raw` and `label`.' },
  } as const,
});

const stepDescriptions = Object.fromEntries(
  Object.entries(orderSteps).map(([step, label]) => [step, { description: `${label}.` }]),
) as Record<OrderStep, { readonly description: string }>;

export const orderStepRef = builder.enumType('OrderStep', {
  description: 'The exact step within a stage.',
  values: stepDescriptions,
});

export const orderStatusRef = builder.objectRef<OrderStatus>('OrderStatus').implement({
  description: 'One status as the service sent it, and as people and code can use it.',
  fields: (t) => ({
    raw: t.exposeString('raw', {
      nullable: false,
      description: 'The text as sent, such as collecting_sample.testkit.transit_customer.',
    }),
    stage: t.expose('stage', {
      type: orderStageRef,
      nullable: false,
      description: 'The stage, from a closed set.',
      extensions: { sentAs: ({ raw }: OrderStatus) => raw.split('.')[0] },
    }),
    method: t.field({
      type: collectionMethod.ref,
      description: 'The collection method it speaks of; null when not given or not known.',
      extensions: { sentAs: ({ method }: OrderStatus) => method },
      resolve: (status) => collectionMethod.known(status.method),
    }),
    step: t.expose('step', {
      type: orderStepRef,
      description: 'The exact step; null when not given or not known.',
      extensions: { sentAs: ({ raw }: OrderStatus) => raw.split('.')[2] },
    }),
    label: t.exposeString('label', {
      nullable: false,
      description: 'The status in English words; never empty.',
    }),
    isTerminal: t.exposeBoolean('isTerminal', {
      nullable: false,
      description: 'Whether nothing more will come.',
    }),
    needsAttention: t.exposeBoolean('needsAttention', {
      nullable: false,
      description: 'Whether something went wrong that a person should look at.',
    }),
  }),
});
