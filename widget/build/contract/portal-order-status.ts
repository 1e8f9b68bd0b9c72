import { cssProperties, sharedStates, statusParts, statusSlots } from './looks.ts';
import { sharedEvents, sharedMethods, sharedProperties, sharedReadonly, updateComplete } from './members.ts';
import type { ElementContract, Property } from './types.ts';

/** What a status says in other words than a launch. */
const TEXTS: Readonly<Record<string, string>> = {
  orderId: 'The order whose status is shown.',
  status: 'How the status is shown. Without a value: `text`, or the slot `empty` where there is no order.',
};

const properties: readonly Property[] = sharedProperties.map((property) => ({
  ...property,
  text: TEXTS[property.name] ?? property.text,
}));

/** `<portal-order-status>` */
export const portalOrderStatus: ElementContract = {
  tag: 'portal-order-status',
  className: 'PortalOrderStatus',
  file: 'portal-order-status.ts',
  text: "An order's status, live.",
  properties,
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
