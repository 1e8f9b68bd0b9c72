import {
  client,
  endpoint,
  errorEvent,
  portalOrigins,
  tokenProvider,
  tokenRequest,
  updateComplete,
} from './members.ts';
import type { ElementContract } from './types.ts';

/** `<portal-gateway>` */
export const portalGateway: ElementContract = {
  tag: 'portal-gateway',
  className: 'PortalGateway',
  file: 'portal-gateway.ts',
  text: 'Gives endpoint, token and one shared connection to every element inside. Shows nothing of its own.',
  properties: [
    { ...endpoint, text: 'Address of the gateway: https, or http on localhost.' },
    portalOrigins,
    tokenProvider,
    client,
  ],
  readonlyProperties: [updateComplete],
  methods: [],
  events: [{ ...errorEvent, text: 'A token was in an attribute and has been removed.' }, tokenRequest],
  slots: [{ name: '', text: "The page's own content." }],
  parts: [],
  states: [],
  cssProperties: [],
};
