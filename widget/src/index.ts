// biome-ignore-all lint/performance/noBarrelFile: the package's entry; importing it has no side effect
export { createPortalClient, type PortalClient } from './client.ts';
export type { Diagnosis } from './diagnosis.ts';
export { PortalError, type PortalErrorCode, type PortalErrorReport } from './errors.ts';
export { type ConnectionState, type PortalEventDetails, PortalTokenRequestEvent } from './events.ts';
export { addLanguage } from './language.ts';
export type { PortalOrder, PortalOrderEvent, PortalOrderStatus as OrderStatus } from './order.ts';
export { PortalGateway } from './portal-gateway.ts';
export { PortalLaunch } from './portal-launch.ts';
export { PortalOrderStatus } from './portal-order-status.ts';
export { PortalResults } from './results/portal-results.ts';
export type { PartialStrings, Strings } from './strings.ts';
export type { ExpiringToken, TokenAnswer, TokenProvider, TokenRequest } from './token.ts';
