import type { PortalElements, PortalProps } from './jsx.ts';

/** The tags in Svelte 5, which sets properties and listens to events (`onportal-error`) by itself. */
declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'portal-launch': PortalProps<PortalElements['portal-launch']> &
      HTMLAttributes<PortalElements['portal-launch']>;
    'portal-order-status': PortalProps<PortalElements['portal-order-status']> &
      HTMLAttributes<PortalElements['portal-order-status']>;
    'portal-results': PortalProps<PortalElements['portal-results']> &
      HTMLAttributes<PortalElements['portal-results']>;
    'portal-gateway': PortalProps<PortalElements['portal-gateway']> &
      HTMLAttributes<PortalElements['portal-gateway']>;
  }
}
