import { builder } from '../../graph/builder.ts';
import { openEnumFields } from '../../graph/open-enum.ts';
import { loadShownOrder } from '../order/read/actions.ts';
import { interpretation, orderRef } from '../order/read/graph.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { readCriticalResult } from './rest.ts';

const typename = 'ResultCritical';

const criticalOf = ({ payload }: ServiceEvent) => readCriticalResult(payload);

claimServiceEvents(
  typename,
  (event) => event.type === 'labtest.result.critical' && criticalOf(event) !== null,
);

builder.objectRef<ServiceEvent>(typename).implement({
  description: 'A result needs attention at once. The event carries no values: read them from the order.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    orderId: t.id({
      description: 'Id of the order whose result it is (uuid).',
      resolve: (event) => criticalOf(event)?.orderId,
    }),
    order: t.field({
      type: orderRef,
      description: 'The order as it is now.',
      resolve: (event, _args, context) => {
        const orderId = criticalOf(event)?.orderId ?? null;
        return orderId === null ? null : loadShownOrder(context, orderId);
      },
    }),
    sampleId: t.string({
      description: 'The number on the sample.',
      resolve: (event) => criticalOf(event)?.sampleId,
    }),
    statusRaw: t.string({
      description: 'How complete the results are, as the service sent it.',
      resolve: (event) => criticalOf(event)?.status,
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      description: 'What the result means; null when the value is not one of these.',
      raw: 'The interpretation as the service sent it.',
      read: (event) => criticalOf(event)?.interpretation ?? null,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the service made the result.',
      resolve: (event) => criticalOf(event)?.createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When the result last changed.',
      resolve: (event) => criticalOf(event)?.updatedAt,
    }),
  }),
});
