import { readOptionalUuid, readRenamed, readUuids, renamedTo } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { fieldById } from '../../../graph/field-by-id.ts';
import { requireOpen, uniteOpen } from '../../../graph/open-enum.ts';
import { type ConnectionArguments, connectionField } from '../../../graph/pagination/connection.ts';
import { listCursors } from '../../../graph/pagination/cursors.ts';
import { newestFirstConnection } from '../../../graph/pagination/newest-first-connection.ts';
import { needs } from '../../../graph/permissions.ts';
import { collectionMethod } from '../../lab-test/graph.ts';
import { userRef } from '../../user/graph.ts';
import { listShownOrders } from './actions.ts';
import { interpretation, orderRef, orderStepRef } from './graph.ts';
import type { OrderFilter } from './rest-filter.ts';

const orderActivation = builder.enumType('OrderActivation', {
  description: 'Whether an order is under way or waits for its day.',
  values: {
    CURRENT: { description: 'It is under way.' },
    SCHEDULED: { description: 'It becomes active on a later day (`activateBy`).' },
  } as const,
});

const stepsSentence = 'Only orders whose last step is one of these, whatever the collection method.';
const stepsRawSentence = 'The same for steps that the enum lacks, as the service names them.';
const methodsSentence = 'Only orders whose sample is taken in one of these ways.';

const orderFilter = builder.inputType('OrderFilter', {
  description: 'Which orders; all given parts must match.',
  fields: (t) => ({
    orderIds: t.idList({ description: 'Only orders with these ids (uuid), 100 at most.' }),
    transactionId: t.id({ description: 'Only the orders of this transaction (uuid).' }),
    interpretation: t.field({
      type: interpretation.ref,
      description: 'Only orders whose results mean this.',
    }),
    interpretationRaw: t.string({
      description: 'The same for a value that the enum lacks, as the service names it, such as unknown.',
    }),
    steps: t.field({ type: [orderStepRef], description: stepsSentence }),
    stepsRaw: t.stringList({ description: stepsRawSentence }),
    statuses: t.field({
      type: [orderStepRef],
      deprecationReason: renamedTo('steps'),
      description: stepsSentence,
    }),
    statusesRaw: t.stringList({ deprecationReason: renamedTo('stepsRaw'), description: stepsRawSentence }),
    collectionMethods: t.field({ type: [collectionMethod.ref], description: methodsSentence }),
    collectionMethodsRaw: t.stringList({
      description: 'The same for ways that the enum lacks, as the service names them.',
    }),
    methods: t.field({
      type: [collectionMethod.ref],
      deprecationReason: renamedTo('collectionMethods'),
      description: methodsSentence,
    }),
    activations: t.field({
      type: [orderActivation],
      description: 'Only orders that are under way, or only those that wait for their day.',
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Only orders placed then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only orders placed then or earlier.' }),
    updatedAfter: t.field({ type: 'DateTime', description: 'Only orders changed since then.' }),
    updatedBefore: t.field({ type: 'DateTime', description: 'Only orders last changed then or earlier.' }),
    search: t.string({
      description:
        'Only orders with this text in their id, their user id or the name of patient or receiver. Needs the scope read:profile.',
    }),
  }),
});

type FilterInput = typeof orderFilter.$inferInput;

function readFilter(input: FilterInput | null | undefined, userId: string | null): OrderFilter {
  const steps = readRenamed({ 'filter.steps': input?.steps, 'filter.statuses': input?.statuses });
  const stepsRaw = readRenamed({
    'filter.stepsRaw': input?.stepsRaw,
    'filter.statusesRaw': input?.statusesRaw,
  });
  const methods = readRenamed({
    'filter.collectionMethods': input?.collectionMethods,
    'filter.methods': input?.methods,
  });
  return {
    userId,
    orderIds: readUuids('filter.orderIds', input?.orderIds),
    transactionId: readOptionalUuid('filter.transactionId', input?.transactionId) ?? undefined,
    interpretation: requireOpen('filter', input ?? {}, 'interpretation') ?? undefined,
    statuses: uniteOpen(steps, stepsRaw) ?? undefined,
    methods: uniteOpen(methods, input?.collectionMethodsRaw) ?? undefined,
    activations: uniteOpen(input?.activations, null) ?? undefined,
    createdAfter: input?.createdAfter,
    createdBefore: input?.createdBefore,
    updatedAfter: input?.updatedAfter,
    updatedBefore: input?.updatedBefore,
    search: input?.search?.trim() || undefined,
  };
}

function listConnection(context: GraphContext, args: ListArguments, userId: string | null) {
  const filter = readFilter(args.filter, userId);
  // A search by name reveals the name, letter by letter.
  if (filter.search !== undefined) context.service.rights.require('read:profile');
  return newestFirstConnection(args, listCursors(context, ['orders', filter]), {
    fetch: (range) => listShownOrders(context, filter, range),
    idOf: (order) => order.id,
  });
}

interface ListArguments extends ConnectionArguments {
  readonly filter?: FilterInput | null | undefined;
}

const guarantee =
  'Orders that are placed while you read the list are not on its later pages. No order comes twice.';

const orderList = connectionField('Order', orderRef, 'orders');

const orderListArgs = {
  ...orderList.args,
  ...builder.args((t) => ({
    filter: t.field({ type: orderFilter, description: 'Which orders; all of them when left out.' }),
  })),
};

builder.objectField(userRef, 'orders', (t) =>
  t.field({
    ...orderList,
    args: orderListArgs,
    ...fieldById((userId, args: ListArguments, context) => listConnection(context, args, userId)),
    description: `The user's orders, newest first. ${guarantee}`,
  }),
);

builder.queryField('orders', (t) =>
  t.field({
    ...orderList,
    args: orderListArgs,
    extensions: needs('read:orders'),
    description: `The orders the caller may see, newest first. ${guarantee}`,
    resolve: (_root, args, context) => listConnection(context, args, null),
  }),
);
