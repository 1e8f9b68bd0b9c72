import type { Property, Typed } from './types.ts';

/** Where the gateway is. */
export const endpoint: Property = {
  name: 'endpoint',
  attribute: 'endpoint',
  type: 'string | null',
  fallback: 'null',
  text: 'Address of the gateway: https, or http on localhost. Default: that of the surrounding `<portal-gateway>`.',
};

/** Where a portal may be. */
export const portalOrigins: Property = {
  name: 'portalOrigins',
  attribute: 'portal-origins',
  type: 'string | null',
  fallback: 'null',
  text: "Allowed origins of the portal's address, separated by spaces. Default: only the gateway's list applies.",
};

/** The source of the token. */
export const tokenProvider: Property = {
  name: 'tokenProvider',
  attribute: null,
  type: 'TokenProvider | null',
  fallback: 'null',
  text: 'Gives viewer tokens: `async ({ reason, scope, orderId, signal }) => token` or `{ token, expiresAt }`. The token serves all orders of the elements that share the function.',
};

/** A host's own client. */
export const client: Property = {
  name: 'client',
  attribute: null,
  type: 'PortalClient | null',
  fallback: 'null',
  text: "A client of the page's own (`createPortalClient`), instead of endpoint and token.",
};

/** Properties of both visible elements. */
export const sharedProperties: readonly Property[] = [
  endpoint,
  {
    name: 'orderId',
    attribute: 'order-id',
    type: 'string | null',
    fallback: 'null',
    text: "The order; none means the portal's home.",
  },
  {
    name: 'status',
    attribute: 'status',
    type: "'none' | 'text' | 'steps' | null",
    fallback: 'null',
    text: 'How the status is shown. Without a value: `text` where there is an order, else `none`.',
  },
  {
    name: 'live',
    attribute: 'live',
    type: "'visible' | 'always' | 'off'",
    fallback: "'visible'",
    text: 'When the order is followed: while the element is visible, always, or never (it is read once).',
  },
  {
    name: 'privacy',
    attribute: 'privacy',
    type: "'minimal' | 'full'",
    fallback: "'minimal'",
    text: '`full` requests and shows the name of the test; with `minimal` it never reaches the page.',
  },
  {
    name: 'pollInterval',
    attribute: 'poll-interval',
    type: 'number',
    fallback: '30',
    text: 'Seconds between two reads if no WebSocket can be opened: 10 to a day; 0 = no further reads.',
  },
  tokenProvider,
  client,
  {
    name: 'strings',
    attribute: null,
    type: 'PartialStrings | null',
    fallback: 'null',
    text: "Texts that replace any of the language's texts.",
  },
  {
    name: 'statusLabel',
    attribute: null,
    type: '((status: PortalOrderStatus) => string | null) | null',
    fallback: 'null',
    text: "The page's own text for a status; null means the widget's.",
  },
];

/** Read-only properties of both visible elements. */
export const sharedReadonly: readonly Typed[] = [
  { name: 'order', type: 'PortalOrder | null', text: 'The order as last shown, frozen.' },
  { name: 'connection', type: 'ConnectionState', text: 'How fresh the status is.' },
  {
    name: 'lastError',
    type: 'PortalErrorReport | null',
    text: 'The last failure, also when it is no longer shown.',
  },
];

/** Of every element. */
export const updateComplete: Typed = {
  name: 'updateComplete',
  type: 'Promise<boolean>',
  text: 'Settles when the screen is up to date.',
};

/** Methods of both visible elements. */
export const sharedMethods: readonly Typed[] = [
  { name: 'refresh', type: 'Promise<void>', text: 'Reads the order once, now. Never rejects.' },
  { name: 'retry', type: 'Promise<void>', text: 'Retries after a failure. Never rejects.' },
  { name: 'pause', type: 'void', text: 'Stops following the order until `resume()`.' },
  { name: 'resume', type: 'void', text: 'Follows the order again.' },
  { name: 'focus', type: 'void', text: 'Focuses the first button or link.' },
  {
    name: 'diagnose',
    type: 'Promise<Diagnosis>',
    text: 'Returns the first problem between the page and the gateway, and its fix. Never rejects.',
  },
];

/** Of every element. */
export const tokenRequest: Typed = {
  name: 'portal-token-request',
  type: 'PortalTokenRequestEvent',
  text: 'A token is needed and there is no `tokenProvider`: call `event.respondWith(promise)`; `event.request` has the reason.',
};

/** Of every element. */
export const errorEvent: Typed = {
  name: 'portal-error',
  type: "CustomEvent<PortalEventDetails['portal-error']>",
  text: 'Something failed. Cancel it to show the error yourself.',
};

/** Events of both visible elements. */
export const sharedEvents: readonly Typed[] = [
  {
    name: 'portal-status',
    type: "CustomEvent<PortalEventDetails['portal-status']>",
    text: 'The order was read or has changed.',
  },
  {
    name: 'portal-connection',
    type: "CustomEvent<PortalEventDetails['portal-connection']>",
    text: 'The freshness of the status has changed.',
  },
  errorEvent,
  tokenRequest,
];
