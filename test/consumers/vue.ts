import type {} from '@labgraph/widget/vue';
import type { GlobalComponents } from 'vue';

/** What a template may bind on a tag: this is how Vue's own checker reads it. */
type Props<Tag extends keyof GlobalComponents> = InstanceType<GlobalComponents[Tag]>['$props'];

export const launch: Props<'portal-launch'> = {
  'order-id': '1',
  mode: 'tab',
  tokenProvider: async () => 'token',
  onPortalError: ({ detail }) => detail.requestId,
};

// @ts-expect-error: there is no such mode
export const wrongMode: Props<'portal-launch'> = { mode: 'popup' };
// @ts-expect-error: a gateway shows no order
export const wrongAttribute: Props<'portal-gateway'> = { 'order-id': '1' };
