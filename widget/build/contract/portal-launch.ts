import { cssProperties, sharedStates, statusParts, statusSlots } from './looks.ts';
import {
  portalOrigins,
  sharedEvents,
  sharedMethods,
  sharedProperties,
  sharedReadonly,
  updateComplete,
} from './members.ts';
import type { ElementContract, Named, Typed } from './types.ts';

const launchEvents: readonly Typed[] = [
  {
    name: 'portal-before-launch',
    type: "CustomEvent<PortalEventDetails['portal-before-launch']>",
    text: 'The portal is about to open. Cancel it to stop that.',
  },
  {
    name: 'portal-launched',
    type: "CustomEvent<PortalEventDetails['portal-launched']>",
    text: 'The tab navigates to the portal.',
  },
  {
    name: 'portal-blocked',
    type: "CustomEvent<PortalEventDetails['portal-blocked']>",
    text: 'The browser blocked the tab. Cancel it to show no link.',
  },
  {
    name: 'portal-returned',
    type: "CustomEvent<PortalEventDetails['portal-returned']>",
    text: 'The person returned to this page.',
  },
];

const launchSlots: readonly Named[] = [
  {
    name: '',
    text: 'Label of the button. A plain link here works without scripts, and gives the button its label with them.',
  },
  { name: 'icon', text: 'Before the label.' },
  { name: 'loading', text: 'Label of the button while the portal opens.' },
  { name: 'blocked', text: 'Label of the link that replaces a blocked tab.' },
];

const launchParts: readonly Named[] = [
  { name: 'launch', text: 'Around button, note, error and status.' },
  { name: 'button', text: 'The button, and the link that replaces it.' },
  { name: 'opening', text: 'The button while the portal opens.' },
  { name: 'link', text: 'The link that replaces a blocked tab.' },
  { name: 'button-label', text: 'The label of the button.' },
  { name: 'layer', text: 'One of the two labels that overlay each other.' },
  { name: 'away-icon', text: 'The arrow after the label.' },
  { name: 'note', text: 'Why there is a link.' },
];

/** `<portal-launch>` */
export const portalLaunch: ElementContract = {
  tag: 'portal-launch',
  className: 'PortalLaunch',
  file: 'portal-launch.ts',
  text: "A button that opens the patient portal, with an order's status beside it.",
  properties: [
    ...sharedProperties,
    {
      name: 'mode',
      attribute: 'mode',
      type: "'tab' | 'redirect' | 'post'",
      fallback: "'tab'",
      text: "Where the portal opens: a new tab, this one, or a new tab through the gateway's `POST /launch`. In the WebView of an app always this one.",
    },
    {
      name: 'disabled',
      attribute: 'disabled',
      type: 'boolean',
      fallback: 'false',
      text: 'The button cannot be pressed.',
    },
    portalOrigins,
  ],
  readonlyProperties: [
    { name: 'phase', type: "'idle' | 'opening' | 'link'", text: 'What the button is doing.' },
    ...sharedReadonly,
    updateComplete,
  ],
  methods: [
    {
      name: 'launch',
      type: 'Promise<void>',
      text: 'Opens the portal. Call it in the task of a click. Never rejects.',
    },
    { name: 'click', type: 'void', text: 'Presses the button.' },
    ...sharedMethods,
  ],
  events: [...launchEvents, ...sharedEvents],
  slots: [...launchSlots, ...statusSlots.filter(({ name }) => name !== 'loading')],
  parts: [{ name: 'frame', text: 'Around everything.' }, ...launchParts, ...statusParts],
  states: [
    ...sharedStates,
    { name: 'opening', text: 'The portal is being opened.' },
    { name: 'blocked', text: 'A link replaces a blocked tab.' },
    { name: 'disabled', text: 'The button cannot be pressed.' },
  ],
  cssProperties,
};
