import type { PortalLaunch, TokenProvider } from '@labgraph/widget';
import type {} from '@labgraph/widget/react';
import { createRef } from 'react';

const launch = createRef<PortalLaunch>();
const getToken: TokenProvider = async () => 'token';

export const page = (
  <portal-gateway endpoint="https://gateway.example/graphql" tokenProvider={getToken}>
    <portal-launch
      ref={launch}
      className="wide"
      order-id="1"
      mode="redirect"
      poll-interval={30}
      disabled
      onportal-error={(event) => event.detail.retryable || event.preventDefault()}
      onportal-before-launch={({ detail }) =>
        launch.current?.dispatchEvent(new Event(String(detail.orderId)))
      }
    >
      Open my results
    </portal-launch>
    <portal-order-status orderId="1" status="steps" live="always" lang="de" />
  </portal-gateway>
);

// @ts-expect-error: there is no such mode
export const wrongMode = <portal-launch mode="popup" />;
// @ts-expect-error: no user is named in markup
export const wrongAttribute = <portal-launch userId="1" />;
// @ts-expect-error: a status opens nothing
export const wrongElement = <portal-order-status mode="tab" />;
