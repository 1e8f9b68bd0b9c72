/**
 * The GraphQL the widget speaks: read over HTTP, subscribed over the socket, and the two ways to the portal.
 * Without `$full` the name of the test never reaches the page's memory.
 */
const ORDER =
  'fragment O on Order{id method:collectionMethod status{raw stage step label isTerminal needsAttention}' +
  'events{id createdAt status{stage}}labTest@include(if:$full){name}}';

/** Reads one order now. Variables: `orderId`, `full`. */
export const READ_ORDER = `query PortalOrder($orderId:ID!,$full:Boolean!){order(id:$orderId){...O}}${ORDER}`;

/** Follows one order from a cursor on. Variables: `orderId`, `after` (null = from now), `full`. */
export const ORDER_UPDATES =
  'subscription PortalOrderUpdates($orderId:ID!,$after:EventCursor,$full:Boolean!)' +
  `{orderUpdates(orderId:$orderId,after:$after){cursor kind event{id}order{...O}}}${ORDER}`;

/** Makes a short-lived portal address. Variables: `orderId` (null = portal home). */
export const CREATE_PORTAL_URL =
  'mutation PortalLaunch($orderId:ID){launch:createPortalUrl(input:{context:LAUNCH,orderId:$orderId})' +
  '{__typename ...on PortalUrl{url}...on PortalUrlRejected{demographicsMissing}}}';

/** Makes a single-use ticket for the gateway's `POST /launch`. Variables: `orderId` (null = portal home). */
export const CREATE_LAUNCH_TICKET =
  'mutation PortalTicket($orderId:ID){launch:createLaunchTicket(input:{orderId:$orderId})' +
  '{__typename ...on LaunchTicket{ticket}...on PortalUrlRejected{demographicsMissing}}}';
