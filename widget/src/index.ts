// biome-ignore-all lint/performance/noBarrelFile: the package's entry; importing it has no side effect
export { createPortalClient, type PortalClient } from './client/client.ts';
export type { Diagnosis } from './client/diagnosis.ts';
export { PortalGateway } from './elements/portal-gateway.ts';
export { PortalError, type PortalErrorCode, type PortalErrorReport } from './gateway/errors.ts';
export type { ExpiringToken, TokenAnswer, TokenProvider, TokenRequest } from './gateway/token.ts';
export { PortalLaunch } from './launch/portal-launch.ts';
export type { PortalOrder, PortalOrderEvent, PortalOrderStatus as OrderStatus } from './live/order.ts';
export type { ConnectionState } from './live/order-listener.ts';
export { type PortalEventDetails, PortalTokenRequestEvent } from './page/events.ts';
export { PortalResults } from './results/portal-results.ts';
export { PortalOrderStatus } from './status/portal-order-status.ts';
export { addLanguage } from './words/language.ts';
export type { PartialStrings, Strings } from './words/strings.ts';
