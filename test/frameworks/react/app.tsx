import type { PortalGateway, PortalLaunch } from '@labgraph/widget';
import type {} from '@labgraph/widget/react';
import { useCallback, useState } from 'react';
import { type AppProps, getPortalToken } from '../page.ts';

/** React sets neither properties nor listeners on elements that its server has rendered, but it calls refs. */
const giveToken = (gateway: PortalGateway | null) => {
  if (gateway) gateway.tokenProvider = getPortalToken;
};

export function App({ endpoint, portalOrigins, orderId }: AppProps) {
  const [label, setLabel] = useState('');
  const listen = useCallback((launch: PortalLaunch) => {
    const left = new AbortController();
    launch.addEventListener('portal-status', ({ detail }) => setLabel(detail.order.status.label), {
      signal: left.signal,
    });
    return () => left.abort();
  }, []);
  return (
    <portal-gateway ref={giveToken} endpoint={endpoint} portal-origins={portalOrigins}>
      <portal-launch
        ref={listen}
        id="launch"
        className="wide"
        aria-label="Your order"
        data-order="first"
        order-id={orderId}
        status="text"
        poll-interval={30}
        onportal-error={({ detail }) => console.info(detail.code)}
      >
        <span>Open my results</span>
        <a slot="error" href="/help">
          Ask us
        </a>
      </portal-launch>
      <portal-order-status order-id={orderId} status="steps" live="visible" privacy="minimal" lang="en" />
      <output>{label}</output>
    </portal-gateway>
  );
}
