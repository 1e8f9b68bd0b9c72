import { builder } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { loadShownOrder, orderOrigin, orderRef } from './graph.ts';
import { orderInTransactionRef } from './parts-graph.ts';
import type { Order } from './rest.ts';

function loadParent(context: GraphContext, parentId: string | null): Promise<Order | null> | null {
  return parentId === null ? null : loadShownOrder(context, parentId);
}

/** The order that this one follows, as its transaction tells. */
function parentIdOf(order: Order): string | null {
  return order.transaction?.orders.find(({ id }) => id === order.id)?.parentId ?? null;
}

builder.objectFields(orderInTransactionRef, (t) => ({
  order: t.field({
    type: orderRef,
    description: 'The order itself; null when the caller may not see it.',
    resolve: ({ id }, _args, context) => loadShownOrder(context, id),
  }),
  parent: t.field({
    type: orderRef,
    description: 'The order it follows, such as the one whose sample could not be used.',
    resolve: ({ parentId }, _args, context) => loadParent(context, parentId),
  }),
  origin: t.field({
    type: orderOrigin.ref,
    description: 'Why it exists; null when the reason is not one of these.',
    resolve: ({ origin }) => orderOrigin.known(origin),
  }),
}));

builder.objectField(orderRef, 'parent', (t) =>
  t.field({
    type: orderRef,
    description: 'The order it follows: the one it redraws or recreates; null for a first order.',
    resolve: (order, _args, context) => loadParent(context, parentIdOf(order)),
  }),
);
