import '@labgraph/widget/define';
import '@labgraph/widget/languages/de';
import '@labgraph/widget/cdn/portal-widget.js';
import {
  createPortalClient,
  type PortalErrorCode,
  type PortalLaunch,
  type TokenProvider,
} from '@labgraph/widget';
import type { PortalAttributes, PortalProperties } from '@labgraph/widget/jsx';
import '@labgraph/widget/placeholder.css';

const tokenProvider: TokenProvider = async ({ reason, signal }) => {
  const response = await fetch(`/token?reason=${reason}`, { method: 'POST', signal });
  return response.json();
};

const launch: PortalLaunch = document.createElement('portal-launch');
launch.client = createPortalClient({ endpoint: 'https://gateway.example/graphql', tokenProvider });
launch.mode = 'post';
launch.statusLabel = ({ stage, label }) => (stage === 'FAILED' ? 'Call us' : label);
// @ts-expect-error: there is no such mode
launch.mode = 'popup';
// @ts-expect-error: the element reports its status; the page cannot set it
launch.order = null;

document.querySelector('portal-order-status')?.addEventListener('portal-status', ({ detail }) => {
  const label: string = detail.order.status.label;
  document.title = label;
});
document.addEventListener('portal-error', (event) => {
  const code: PortalErrorCode = event.detail.code;
  if (code === 'NOT_FOUND') event.preventDefault();
});
document.addEventListener('portal-token-request', (event) => event.respondWith(tokenProvider(event.request)));

// Nothing more and nothing less may be set.
type Same<One, Other> = [keyof One, keyof Other] extends [keyof Other, keyof One] ? true : never;
type Launch = PortalProperties<PortalLaunch>;
export const properties: Same<
  Launch,
  Record<
    | 'endpoint'
    | 'orderId'
    | 'status'
    | 'live'
    | 'privacy'
    | 'pollInterval'
    | 'tokenProvider'
    | 'client'
    | 'strings'
    | 'statusLabel'
    | 'mode'
    | 'disabled'
    | 'portalOrigins',
    1
  >
> = true;
export const attributes: Same<
  PortalAttributes<PortalLaunch>,
  Record<
    | 'endpoint'
    | 'order-id'
    | 'status'
    | 'live'
    | 'privacy'
    | 'poll-interval'
    | 'mode'
    | 'disabled'
    | 'portal-origins',
    1
  >
> = true;
