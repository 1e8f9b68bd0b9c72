import { builder } from '../../graph/builder.ts';
import { interpretation, loadShownOrder, orderRef } from '../order/read/graph.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { readCriticalResult } from './rest.ts';

const typename = 'ResultCritical';

claimServiceEvents(
  typename,
  (event) => event.type === 'labtest.result.critical' && readCriticalResult(event.payload) !== null,
);

builder.objectRef<ServiceEvent>(typename).implement({
  description: 'A result needs attention at once. The event carries no values: read them from the order.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    orderId: t.id({
      description: 'Id of the order whose result it is (uuid).',
      resolve: (event) => readCriticalResult(event.payload)?.orderId ?? null,
    }),
    order: t.field({
      type: orderRef,
      description: 'The order as it is now.',
      resolve: (event, _args, context) => {
        const orderId = readCriticalResult(event.payload)?.orderId ?? null;
        return orderId === null ? null : loadShownOrder(context, orderId);
      },
    }),
    sampleId: t.string({
      description: 'The number on the sample.',
      resolve: (event) => readCriticalResult(event.payload)?.sampleId ?? null,
    }),
    statusRaw: t.string({
      description: 'How complete the results are, as the service sent it.',
      resolve: (event) => readCriticalResult(event.payload)?.status ?? null,
    }),
    interpretation: t.field({
      type: interpretation.ref,
      description: 'What the result means; null when the value is not one of these.',
      resolve: (event) => interpretation.known(readCriticalResult(event.payload)?.interpretation ?? null),
    }),
    interpretationRaw: t.string({
      description: 'The interpretation as the service sent it.',
      resolve: (event) => readCriticalResult(event.payload)?.interpretation ?? null,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the service made the result.',
      resolve: (event) => readCriticalResult(event.payload)?.createdAt ?? null,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When the result last changed.',
      resolve: (event) => readCriticalResult(event.payload)?.updatedAt ?? null,
    }),
  }),
});
