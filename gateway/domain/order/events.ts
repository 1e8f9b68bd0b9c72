import { builder } from '../../graph/builder.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { eventsOf, orderEventRef, orderRef } from './read/graph.ts';
import { readOrder } from './read/rest-order.ts';

const typename = 'OrderEventReceived';

claimServiceEvents(
  typename,
  (event) => event.type.startsWith('labtest.order.') && readOrder(event.payload) !== null,
);

builder.objectRef<ServiceEvent>(typename).implement({
  description: 'An order was created or changed.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    order: t.field({
      type: orderRef,
      description: 'The order as the service reported it.',
      resolve: (event) => readOrder(event.payload),
    }),
    event: t.field({
      type: orderEventRef,
      description: 'What happened to it last.',
      resolve: (event) => {
        const order = readOrder(event.payload);
        return order === null ? null : (eventsOf(order).at(-1) ?? null);
      },
    }),
  }),
});
