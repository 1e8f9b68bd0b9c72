import type {} from '@labgraph/widget/react';

export const wrong = [
  <portal-launch key={1} mode="popup" />,
  <portal-launch key={2} status="none" live="sometimes" />,
  <portal-launch key={3} userId="1" />,
  <portal-launch key={4} poll-interval="soon" />,
  <portal-launch key={5} disabled="yes" />,
  <portal-launch key={6} order-id={1} />,
  <portal-launch key={7} onportal-error={({ detail }) => detail.url} />,
  <portal-order-status key={8} mode="tab" />,
  <portal-gateway key={9} tokenProvider="token" />,
];
