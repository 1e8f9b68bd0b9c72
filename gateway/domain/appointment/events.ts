import { builder } from '../../graph/builder.ts';
import { loadShownOrder } from '../order/read/actions.ts';
import { orderRef } from '../order/read/graph.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { appointmentRef } from './graph.ts';
import { readAppointment } from './rest.ts';

const typename = 'AppointmentChanged';

claimServiceEvents(
  typename,
  (event) => event.type.startsWith('labtest.appointment.') && readAppointment(event.payload) !== null,
);

builder.objectRef<ServiceEvent>(typename).implement({
  description: 'An appointment was made or changed.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    appointment: t.field({
      type: appointmentRef,
      description: 'The appointment as the service reported it.',
      resolve: (event) => readAppointment(event.payload),
    }),
    order: t.field({
      type: orderRef,
      description: 'The order it is for.',
      resolve: (event, _args, context) => {
        const orderId = readAppointment(event.payload)?.orderId ?? null;
        return orderId === null ? null : loadShownOrder(context, orderId);
      },
    }),
  }),
});
