import type { LitElement } from 'lit';
import type { PortalGateway } from '../elements/portal-gateway.ts';
import type { PortalLaunch } from '../launch/portal-launch.ts';
import type { PortalEventDetails, PortalTokenRequestEvent } from '../page/events.ts';
import type { PortalResults } from '../results/portal-results.ts';
import type { PortalOrderStatus } from '../status/portal-order-status.ts';

/** The elements by their tags. */
export interface PortalElements {
  'portal-launch': PortalLaunch;
  'portal-order-status': PortalOrderStatus;
  'portal-results': PortalResults;
  'portal-gateway': PortalGateway;
}

type IsWritable<Element, Name extends keyof Element> =
  (<T>() => T extends { [K in Name]: Element[K] } ? 1 : 2) extends <T>() => T extends {
    readonly [K in Name]: Element[K];
  }
    ? 1
    : 2
    ? false
    : true;

/** Properties that are functions or null. Where a project has no strict null checks they would count as methods. */
type FunctionNames = 'tokenProvider' | 'statusLabel';

type MethodNames<Element> = {
  [Name in keyof Element]: Element[Name] extends (...parameters: never) => unknown ? Name : never;
}[keyof Element];

type OwnNames<Element> = Exclude<
  keyof Element,
  keyof LitElement | Exclude<MethodNames<Element>, FunctionNames>
>;

/** What a page sets: everything of the element's own that can be written and is no method. */
type SettableNames<Element> = {
  [Name in OwnNames<Element>]: IsWritable<Element, Name> extends true ? Name : never;
}[OwnNames<Element>];

type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Kebab<Rest>}`
    : `-${Lowercase<First>}${Kebab<Rest>}`
  : Name;

type AttributeValue<Value> = Value extends boolean
  ? boolean | ''
  : Value extends number
    ? number | `${number}`
    : Value;

/** The properties of an element that a page may set, none of which it has to. */
export type PortalProperties<Element> = { [Name in SettableNames<Element>]?: Element[Name] | undefined };

/** The attributes of an element: those properties that a text can say, with hyphens. */
export type PortalAttributes<Element> = {
  [Name in SettableNames<Element> & string as Element[Name] extends string | number | boolean | null
    ? Kebab<Name>
    : never]?: AttributeValue<Element[Name]> | undefined;
};

/** The events of an element by name. */
export type PortalEvents = {
  [Name in keyof PortalEventDetails]: CustomEvent<PortalEventDetails[Name]>;
} & { 'portal-token-request': PortalTokenRequestEvent };

/** Listeners as JSX has them: `onportal-error={(event) => ...}`. */
export type PortalListeners = {
  [Name in keyof PortalEvents as `on${Name}`]?: ((event: PortalEvents[Name]) => void) | undefined;
};

/** Everything that may be written on an element of the widget in a template. */
export type PortalProps<Element> = PortalProperties<Element> & PortalAttributes<Element> & PortalListeners;

/**
 * The tags for any JSX, as in Preact:
 * `declare module 'preact' { namespace JSX { interface IntrinsicElements extends PortalIntrinsicElements {} } }`
 */
export type PortalIntrinsicElements<
  Shared = {
    readonly children?: unknown;
    readonly slot?: string;
    readonly class?: string;
    readonly id?: string;
    readonly lang?: string;
  },
> = {
  [Tag in keyof PortalElements]: PortalProps<PortalElements[Tag]> & Shared;
};
