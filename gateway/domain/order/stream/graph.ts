import { readOptionalUuid, readUuid } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import { needs } from '../../../graph/permissions.ts';
import type { ServiceEvent } from '../../service-event/actions.ts';
import { serviceEventType } from '../../service-event/graph.ts';
import { eventsOf, orderEventRef, orderRef } from '../read/graph.ts';
import { readOrderOfEvent } from '../read/rest-order.ts';
import { followOrders, followUserOrders, type OrderUpdate } from './actions.ts';

const orderUpdateKind = builder.enumType('OrderUpdateKind', {
  description: 'Why an update is sent. In every case show `order` and store `cursor`.',
  values: {
    SNAPSHOT: {
      description:
        'The order as it is when a stream starts without `after`. A cursor of an order that is not the last of a ' +
        'SNAPSHOT or RESYNC starts with all orders again. Later items are newer.',
    },
    CHANGED: { description: 'One change that the service reported; event ids grow strictly per order.' },
    RECONCILED: { description: 'A change found by comparing with the service, whose report never came.' },
    RESYNC: {
      description:
        'The history since `after` is gone: all orders of the stream come again, as they are now. A user without ' +
        'orders gets no item.',
    },
  } as const,
});

const orderUpdateRef = builder.objectRef<OrderUpdate>('OrderUpdate').implement({
  description: 'One update of a stream: show `order` and store `cursor`.',
  fields: (t) => ({
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Send it as `after` to continue from here without missing or repeating a change.',
    }),
    kind: t.expose('kind', {
      type: orderUpdateKind,
      nullable: false,
      description: 'Why the update is sent.',
    }),
    order: t.expose('order', {
      type: orderRef,
      nullable: false,
      description: 'The order as of this update.',
    }),
    event: t.field({
      type: orderEventRef,
      description: 'The new event; null on SNAPSHOT and RESYNC.',
      resolve: ({ event, order }) => eventsOf(order).find(({ id }) => id === event?.id) ?? null,
    }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      description: 'When the gateway received the change.',
    }),
  }),
});

builder.subscriptionFields((t) => ({
  orderUpdates: t.field({
    type: orderUpdateRef,
    nullable: false,
    extensions: needs('read:orders'),
    description: 'One order, now and at each change.',
    args: {
      orderId: t.arg.id({ required: true, description: "The order's id (uuid)." }),
      after: t.arg({ type: 'EventCursor', description: 'The newest cursor that you have of this stream.' }),
    },
    subscribe: (_root, args, context) =>
      followOrders(context, { orderId: readUuid('orderId', args.orderId) }, args.after),
    resolve: (update) => update,
  }),
  userOrderUpdates: t.field({
    type: orderUpdateRef,
    nullable: false,
    extensions: needs('read:orders'),
    description:
      'All orders of a user. The stream begins with the 100 orders that changed last and every order with an event in the last ' +
      'five minutes, the last changed first. Then each change follows.',
    args: {
      userId: t.arg.id({
        description: "The user's id (uuid). A viewer may leave it out; a gateway key must give it.",
      }),
      after: t.arg({ type: 'EventCursor', description: 'The newest cursor that you have of this stream.' }),
    },
    subscribe: (_root, args, context) =>
      followUserOrders(context, readOptionalUuid('userId', args.userId), args.after),
    resolve: (update) => update,
  }),
}));

const orderOf = ({ type, payload }: ServiceEvent) =>
  type.startsWith('labtest.order.') ? readOrderOfEvent(payload) : null;

serviceEventType('OrderEventReceived', {
  description: 'An order was created or changed.',
  read: orderOf,
  fields: (t) => ({
    order: t.field({
      type: orderRef,
      description: 'The order as the service reported it.',
      resolve: orderOf,
    }),
    event: t.field({
      type: orderEventRef,
      description: 'What happened to it last.',
      resolve: (event) => {
        const order = orderOf(event);
        return order === null ? null : (eventsOf(order).at(-1) ?? null);
      },
    }),
  }),
});
