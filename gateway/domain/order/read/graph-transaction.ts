import { builder } from '../../../graph/builder.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { loadOrder, loadShownOrder, orderOrigin, orderRef } from './graph.ts';
import { orderInTransactionRef, transactionRef } from './graph-parts.ts';
import type { Order, OrderTransaction } from './rest.ts';

function loadParent(context: GraphContext, parentId: string | null): Promise<Order | null> | null {
  return parentId === null ? null : loadShownOrder(context, parentId);
}

/** The order that this one follows, as its transaction tells. */
function parentIdOf(order: Order): string | null {
  return order.transaction?.orders.find(({ id }) => id === order.id)?.parentId ?? null;
}

/** Who sees every order is spared the look. */
const seesAll = ({ service: { rights } }: GraphContext) => rights.userId === null;

/**
 * A transaction may reach beyond the caller: its redraw can be registered to another user, and a token can be for one
 * order of it. The service tells in short of all its orders, whoever they are of.
 */
async function keepOwn(context: GraphContext, { orders }: OrderTransaction) {
  if (seesAll(context)) return orders;
  const found = await Promise.all(orders.map(({ id }) => loadOrder(context, id)));
  return orders.filter((_, index) => found[index] !== null);
}

async function ownParentId(context: GraphContext, parentId: string | null): Promise<string | null> {
  if (seesAll(context)) return parentId;
  return parentId === null ? null : ((await loadOrder(context, parentId))?.id ?? null);
}

builder.objectField(transactionRef, 'orders', (t) =>
  t.field({
    type: [orderInTransactionRef],
    nullable: false,
    description: 'Its orders that the caller may see, as the service lists them.',
    resolve: (transaction, _args, context) => keepOwn(context, transaction),
  }),
);

builder.objectFields(orderInTransactionRef, (t) => ({
  parentId: t.id({
    description: 'Id of the order it follows (uuid); null when the caller may not see it.',
    resolve: ({ parentId }, _args, context) => ownParentId(context, parentId),
  }),
  order: t.field({
    type: orderRef,
    description: 'The order itself; null when the service no longer shows it.',
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
