import type { HTMLAttributes, ReservedProps } from 'vue';
import type { PortalElements, PortalEvents, PortalProps } from './jsx.ts';

/** A tag as Vue's templates know it: its attributes and properties, those of every element, and `@portal-error` with its event. */
export interface PortalVueElement<Element> {
  new (): {
    $props: PortalProps<Element> &
      NativeAttributes<Element> & {
        [Name in keyof PortalEvents as `on${Capitalize<Camel<Name>>}`]?: (event: PortalEvents[Name]) => void;
      };
    $slots: Readonly<Record<string, unknown>>;
  };
}

/** Of any element; Vue's checker writes `data-order` as `dataOrder`. */
type NativeAttributes<Element> = Omit<HTMLAttributes & ReservedProps, keyof PortalProps<Element>> & {
  [name: `data${Capitalize<string>}`]: unknown;
};

type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** The tags in Vue 3. Tell the compiler that `portal-` is no component: `isCustomElement`. */
export type PortalVueElements = { [Tag in keyof PortalElements]: PortalVueElement<PortalElements[Tag]> };

declare module 'vue' {
  interface GlobalComponents extends PortalVueElements {}
}
