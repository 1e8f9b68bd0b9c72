import { loadShownOrder } from '../order/read/actions.ts';
import { orderRef } from '../order/read/graph.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { serviceEventType } from '../service-event/graph.ts';
import { appointmentRef } from './graph.ts';
import { readAppointment } from './rest.ts';

const appointmentOf = ({ type, payload }: ServiceEvent) =>
  type.startsWith('labtest.appointment.') ? readAppointment(payload) : null;

serviceEventType('AppointmentChanged', {
  description: 'An appointment was made or changed.',
  read: appointmentOf,
  fields: (t) => ({
    appointment: t.field({
      type: appointmentRef,
      description: 'The appointment as the service reported it.',
      resolve: appointmentOf,
    }),
    order: t.field({
      type: orderRef,
      description: 'The order it is for.',
      resolve: (event, _args, context) => {
        const orderId = appointmentOf(event)?.orderId ?? null;
        return orderId === null ? null : loadShownOrder(context, orderId);
      },
    }),
  }),
});
