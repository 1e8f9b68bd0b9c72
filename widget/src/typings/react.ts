import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { PortalElements, PortalProps } from './jsx.ts';

/** The tags in React 19, which sets properties and listens to events (`onportal-error`) by itself. Import for its types. */
export type PortalReactElements = {
  [Tag in keyof PortalElements]: PortalProps<PortalElements[Tag]> &
    DetailedHTMLProps<HTMLAttributes<PortalElements[Tag]>, PortalElements[Tag]>;
};

declare module 'react' {
  // biome-ignore lint/style/noNamespace: the one place where React looks for tags
  namespace JSX {
    interface IntrinsicElements extends PortalReactElements {}
  }
}
