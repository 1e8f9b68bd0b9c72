import { cssProperties, sharedStates, statusParts, statusSlots } from './looks.ts';
import { sharedEvents, sharedMethods, sharedProperties, sharedReadonly, updateComplete } from './members.ts';
import type { ElementContract } from './types.ts';

/** `<portal-order-status>` */
export const portalOrderStatus: ElementContract = {
  tag: 'portal-order-status',
  className: 'PortalOrderStatus',
  file: 'portal-order-status.ts',
  text: "An order's status, live.",
  properties: sharedProperties,
  readonlyProperties: [
    {
      name: 'phase',
      type: "'empty' | 'loading' | 'ready' | 'failed'",
      text: 'Whether there is an order to show yet.',
    },
    ...sharedReadonly,
    updateComplete,
  ],
  methods: sharedMethods,
  events: sharedEvents,
  slots: statusSlots,
  parts: [
    { name: 'frame', text: 'Around everything.' },
    { name: 'status', text: 'Around status and footer.' },
    ...statusParts,
  ],
  states: [
    ...sharedStates,
    { name: 'empty', text: 'There is no order.' },
    { name: 'loading', text: 'The first status has not arrived yet.' },
    { name: 'ready', text: 'A status is shown.' },
    { name: 'failed', text: 'An error is shown instead of the status.' },
  ],
  cssProperties: cssProperties.filter(({ name }) => name !== '--portal-on-accent'),
};
