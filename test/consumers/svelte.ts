import type {} from '@labgraph/widget/svelte';
import type { SvelteHTMLElements } from 'svelte/elements';

export const launch: SvelteHTMLElements['portal-launch'] = {
  'order-id': '1',
  class: 'wide',
  mode: 'post',
  tokenProvider: async () => 'token',
  'onportal-launched': ({ detail }) => detail.orderId,
};

export const results: SvelteHTMLElements['portal-results'] = {
  'order-id': '1',
  class: 'wide',
  privacy: 'full',
};

// @ts-expect-error: there is no such value
export const wrongPrivacy: SvelteHTMLElements['portal-results'] = { privacy: 'none' };
// @ts-expect-error: there is no such mode
export const wrongMode: SvelteHTMLElements['portal-launch'] = { mode: 'popup' };
// @ts-expect-error: a status opens nothing
export const wrongAttribute: SvelteHTMLElements['portal-order-status'] = { mode: 'tab' };
