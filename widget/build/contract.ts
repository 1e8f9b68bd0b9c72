import { portalGateway } from './contract/portal-gateway.ts';
import { portalLaunch } from './contract/portal-launch.ts';
import { portalOrderStatus } from './contract/portal-order-status.ts';
import { portalResults } from './contract/portal-results.ts';
import type { ElementContract } from './contract/types.ts';

/**
 * What a page may say to the elements and hear from them. Everything editors and readers are given is made of
 * this.
 */
export const contract: readonly ElementContract[] = [
  portalLaunch,
  portalOrderStatus,
  portalResults,
  portalGateway,
];
