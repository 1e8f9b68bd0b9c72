/** What a page may say to the elements and hear from them. Everything editors and readers are given is made of this. */

/** One property, with the attribute that sets it, or null. `type` is TypeScript; `values` are those of a closed set. */
export interface Property {
  readonly name: string;
  readonly attribute: string | null;
  readonly type: string;
  readonly fallback: string;
  readonly text: string;
}

/** Something with a name and a meaning. */
export interface Named {
  readonly name: string;
  readonly text: string;
}

/** A property that is read, a method, or an event with the type of what it carries. */
export interface Typed extends Named {
  readonly type: string;
}

/** A custom property with its default, as CSS. */
export interface CssProperty extends Named {
  readonly fallback: string;
}

/** One element. */
export interface ElementContract {
  readonly tag: string;
  readonly className: string;
  readonly file: string;
  readonly text: string;
  readonly properties: readonly Property[];
  readonly readonlyProperties: readonly Typed[];
  readonly methods: readonly Typed[];
  readonly events: readonly Typed[];
  readonly slots: readonly Named[];
  readonly parts: readonly Named[];
  readonly states: readonly Named[];
  readonly cssProperties: readonly CssProperty[];
}

const endpoint: Property = {
  name: 'endpoint',
  attribute: 'endpoint',
  type: 'string | null',
  fallback: 'null',
  text: 'Address of the gateway: https, or http on localhost. Without one the surrounding `<portal-gateway>` gives it.',
};

const portalOrigins: Property = {
  name: 'portalOrigins',
  attribute: 'portal-origins',
  type: 'string | null',
  fallback: 'null',
  text: "Origins a portal address may have, separated by spaces; without any it is the gateway's list alone.",
};

const tokenProvider: Property = {
  name: 'tokenProvider',
  attribute: null,
  type: 'TokenProvider | null',
  fallback: 'null',
  text: 'Gives viewer tokens: `async ({ reason, scope, orderId, signal }) => token` or `{ token, expiresAt }`.',
};

const client: Property = {
  name: 'client',
  attribute: null,
  type: 'PortalClient | null',
  fallback: 'null',
  text: "A client of the page's own (`createPortalClient`), instead of endpoint and token.",
};

const shared: readonly Property[] = [
  endpoint,
  {
    name: 'orderId',
    attribute: 'order-id',
    type: 'string | null',
    fallback: 'null',
    text: "The order; none means the portal's home.",
  },
  {
    name: 'status',
    attribute: 'status',
    type: "'none' | 'text' | 'steps' | null",
    fallback: 'null',
    text: 'How the status is shown. Without a value: `text` where there is an order.',
  },
  {
    name: 'live',
    attribute: 'live',
    type: "'visible' | 'always' | 'off'",
    fallback: "'visible'",
    text: 'When the order is followed: while the element can be seen, always, or read once.',
  },
  {
    name: 'privacy',
    attribute: 'privacy',
    type: "'minimal' | 'full'",
    fallback: "'minimal'",
    text: '`full` asks for the name of the test and shows it; without, it never reaches the page.',
  },
  {
    name: 'pollInterval',
    attribute: 'poll-interval',
    type: 'number',
    fallback: '30',
    text: 'Seconds between two reads where no WebSocket can be opened: at least 10; 0 reads no more.',
  },
  tokenProvider,
  client,
  {
    name: 'strings',
    attribute: null,
    type: 'PartialStrings | null',
    fallback: 'null',
    text: 'Texts that replace those of the language, any of them.',
  },
  {
    name: 'statusLabel',
    attribute: null,
    type: '((status: PortalOrderStatus) => string | null) | null',
    fallback: 'null',
    text: "The page's own words for a status; null keeps the widget's.",
  },
];

const sharedReadonly: readonly Typed[] = [
  { name: 'order', type: 'PortalOrder | null', text: 'The order as last shown, frozen.' },
  { name: 'connection', type: 'ConnectionState', text: 'How fresh the status is.' },
  {
    name: 'lastError',
    type: 'PortalErrorReport | null',
    text: 'The last failure, also when it is no longer shown.',
  },
];

const updateComplete: Typed = {
  name: 'updateComplete',
  type: 'Promise<void>',
  text: 'Settles when what is on screen is up to date.',
};

const sharedMethods: readonly Typed[] = [
  { name: 'refresh', type: 'Promise<void>', text: 'Reads the order once, now. Never rejects.' },
  { name: 'retry', type: 'Promise<void>', text: 'Tries again what failed. Never rejects.' },
  { name: 'pause', type: 'void', text: 'Stops following the order until `resume()`.' },
  { name: 'resume', type: 'void', text: 'Follows the order again.' },
  {
    name: 'diagnose',
    type: 'Promise<Diagnosis>',
    text: 'Names the first thing between the page and the gateway, and its mend. Never rejects.',
  },
];

const tokenRequest: Typed = {
  name: 'portal-token-request',
  type: 'PortalTokenRequestEvent',
  text: 'A token is needed and there is no `tokenProvider`: call `event.respondWith(promise)`.',
};

const errorEvent: Typed = {
  name: 'portal-error',
  type: "CustomEvent<PortalEventDetails['portal-error']>",
  text: 'Something failed. Cancel it to show the error yourself.',
};

const sharedEvents: readonly Typed[] = [
  {
    name: 'portal-status',
    type: "CustomEvent<PortalEventDetails['portal-status']>",
    text: 'The order was read or has changed.',
  },
  {
    name: 'portal-connection',
    type: "CustomEvent<PortalEventDetails['portal-connection']>",
    text: 'The freshness of the status has changed.',
  },
  errorEvent,
  tokenRequest,
];

const launchEvents: readonly Typed[] = [
  {
    name: 'portal-before-launch',
    type: "CustomEvent<PortalEventDetails['portal-before-launch']>",
    text: 'The portal is about to open. Cancel it to stop that.',
  },
  {
    name: 'portal-launched',
    type: "CustomEvent<PortalEventDetails['portal-launched']>",
    text: 'The tab is on its way to the portal.',
  },
  {
    name: 'portal-blocked',
    type: "CustomEvent<PortalEventDetails['portal-blocked']>",
    text: 'The browser held the tab back. Cancel it to show no link.',
  },
  {
    name: 'portal-returned',
    type: "CustomEvent<PortalEventDetails['portal-returned']>",
    text: 'The person came back to this page.',
  },
];

const statusSlots: readonly Named[] = [
  { name: 'empty', text: 'Shown where there is no order.' },
  { name: 'loading', text: 'Shown until the first status is there.' },
  { name: 'offline', text: 'Replaces the text of the age while offline.' },
  { name: 'error', text: 'Replaces the text of every error.' },
  { name: 'error-<code>', text: 'Replaces the text of one error, as in `error-demographics-missing`.' },
  { name: 'footer', text: 'Below everything.' },
];

const launchSlots: readonly Named[] = [
  {
    name: '',
    text: 'Label of the button. A plain link here stands in where there are no scripts, and gives the label where there are.',
  },
  { name: 'icon', text: 'Before the label.' },
  { name: 'blocked', text: 'Label of the link that stands in for a tab held back.' },
];

const statusParts: readonly Named[] = [
  { name: 'text', text: 'The status as one line, and an error.' },
  { name: 'steps', text: 'The list of steps.' },
  { name: 'step', text: 'One step; also `done`, `current`, `reached` or `ahead`.' },
  { name: 'mark', text: 'The round mark before a status or step; also how it looks.' },
  { name: 'done', text: 'A step or mark: behind the order.' },
  { name: 'current', text: 'A step or mark: where the order is.' },
  { name: 'reached', text: 'A step or mark: begun before, not current now.' },
  { name: 'ahead', text: 'A step or mark: not begun.' },
  { name: 'attention', text: 'A current step or mark that needs attention.' },
  { name: 'bad', text: 'A current step or mark of an order that was cancelled or failed.' },
  { name: 'disc', text: 'The disc of a mark.' },
  { name: 'line', text: 'What is drawn on the disc.' },
  { name: 'words', text: 'What is written beside a mark.' },
  { name: 'name', text: 'The name of a step.' },
  { name: 'hidden', text: 'Words for screen readers only.' },
  { name: 'detail', text: 'The status within the current step.' },
  { name: 'label', text: 'The status in words.' },
  { name: 'headline', text: 'The status as one line.' },
  { name: 'badge', text: 'That the order needs attention.' },
  { name: 'time', text: 'When the current step began.' },
  { name: 'freshness', text: 'How old the status is; also the state of the connection.' },
  { name: 'idle', text: 'Freshness: nothing is followed.' },
  { name: 'connecting', text: 'Freshness: not yet connected.' },
  { name: 'live', text: 'Freshness: every change comes at once.' },
  { name: 'stale', text: 'Freshness: the connection fell and is on its way back.' },
  { name: 'polling', text: 'Freshness: read from time to time.' },
  { name: 'offline', text: 'Freshness: there is no network.' },
  { name: 'closed', text: 'Freshness: paused, or the page is put away.' },
  { name: 'test-name', text: 'The name of the test, with `privacy="full"`.' },
  { name: 'empty', text: 'Where there is no order.' },
  { name: 'skeleton', text: 'What stands there until the first status.' },
  { name: 'bone', text: 'One line of it.' },
  { name: 'error', text: 'An error.' },
  { name: 'retry', text: 'The button that tries again.' },
];

const launchParts: readonly Named[] = [
  { name: 'launch', text: 'Around button, note, error and status.' },
  { name: 'button', text: 'The button, and the link that stands in for it.' },
  { name: 'opening', text: 'The button while the portal opens.' },
  { name: 'link', text: 'The link that stands in for a tab held back.' },
  { name: 'button-label', text: 'The label of the button.' },
  { name: 'layer', text: 'One of the two labels that lie on one another.' },
  { name: 'away-icon', text: 'The arrow after the label.' },
  { name: 'note', text: 'Why there is a link.' },
];

const sharedStates: readonly Named[] = [
  { name: 'idle', text: 'Nothing is followed.' },
  { name: 'connecting', text: 'Not yet connected.' },
  { name: 'live', text: 'Every change comes at once.' },
  { name: 'stale', text: 'The connection fell and is on its way back.' },
  { name: 'polling', text: 'No WebSocket can be opened: read from time to time.' },
  { name: 'offline', text: 'There is no network.' },
  { name: 'closed', text: 'Paused, or the page is put away.' },
  { name: 'error', text: 'An error is shown.' },
  { name: 'attention', text: 'The order needs attention.' },
  { name: 'terminal', text: 'Nothing will follow for this order.' },
];

const cssProperties: readonly CssProperty[] = [
  {
    name: '--portal-accent',
    fallback: 'light-dark(#0b5f7d, #7fcbe6)',
    text: 'Button, current step, focus ring.',
  },
  { name: '--portal-on-accent', fallback: 'light-dark(#fff, #06222e)', text: 'Text on the button.' },
  {
    name: '--portal-good',
    fallback: 'light-dark(#1b7048, #7dd3a4)',
    text: 'What is done, and what is live.',
  },
  {
    name: '--portal-on-good',
    fallback: 'light-dark(#fff, #0c2418)',
    text: 'The tick on a mark that is done.',
  },
  { name: '--portal-attention', fallback: 'light-dark(#8a5300, #f4c06a)', text: 'What needs attention.' },
  { name: '--portal-bad', fallback: 'light-dark(#a5282f, #ff9f9a)', text: 'Cancelled and failed.' },
  {
    name: '--portal-muted',
    fallback: 'color-mix(in srgb, currentColor 68%, #0000)',
    text: 'Times, ages, steps ahead.',
  },
  {
    name: '--portal-line',
    fallback: 'color-mix(in srgb, currentColor 22%, #0000)',
    text: 'Lines and borders.',
  },
  { name: '--portal-gap', fallback: '1rem', text: 'Between button and status.' },
  { name: '--portal-radius', fallback: '0.625rem', text: 'Corners of buttons.' },
];

const launch: ElementContract = {
  tag: 'portal-launch',
  className: 'PortalLaunch',
  file: 'portal-launch.ts',
  text: "A button that opens the patient portal, with an order's status beside it.",
  properties: [
    ...shared,
    {
      name: 'mode',
      attribute: 'mode',
      type: "'tab' | 'redirect' | 'post'",
      fallback: "'tab'",
      text: "Where the portal opens: a new tab, this one, or a new tab through the gateway's `POST /launch`.",
    },
    {
      name: 'disabled',
      attribute: 'disabled',
      type: 'boolean',
      fallback: 'false',
      text: 'The button cannot be pressed.',
    },
    portalOrigins,
  ],
  readonlyProperties: [
    { name: 'phase', type: "'idle' | 'opening' | 'link'", text: 'What the button is doing.' },
    ...sharedReadonly,
    updateComplete,
  ],
  methods: [
    {
      name: 'launch',
      type: 'Promise<void>',
      text: 'Opens the portal. Call it in the task of a click. Never rejects.',
    },
    { name: 'click', type: 'void', text: 'Presses the button.' },
    ...sharedMethods,
  ],
  events: [...launchEvents, ...sharedEvents],
  slots: [...launchSlots, ...statusSlots],
  parts: [{ name: 'frame', text: 'Around everything.' }, ...launchParts, ...statusParts],
  states: [
    ...sharedStates,
    { name: 'opening', text: 'The portal is being opened.' },
    { name: 'blocked', text: 'A link stands in for a tab held back.' },
    { name: 'disabled', text: 'The button cannot be pressed.' },
  ],
  cssProperties,
};

const orderStatus: ElementContract = {
  tag: 'portal-order-status',
  className: 'PortalOrderStatus',
  file: 'portal-order-status.ts',
  text: "An order's status, live.",
  properties: shared,
  readonlyProperties: [
    {
      name: 'phase',
      type: "'empty' | 'loading' | 'ready' | 'failed'",
      text: 'Whether there is an order to show yet.',
    },
    ...sharedReadonly,
    updateComplete,
  ],
  methods: sharedMethods,
  events: sharedEvents,
  slots: statusSlots,
  parts: [
    { name: 'frame', text: 'Around everything.' },
    { name: 'status', text: 'Around status and footer.' },
    ...statusParts,
  ],
  states: [
    ...sharedStates,
    { name: 'empty', text: 'There is no order.' },
    { name: 'loading', text: 'The first status has not come yet.' },
    { name: 'ready', text: 'A status is shown.' },
    { name: 'failed', text: 'An error stands where the status would.' },
  ],
  cssProperties: cssProperties.filter(({ name }) => name !== '--portal-on-accent'),
};

const gateway: ElementContract = {
  tag: 'portal-gateway',
  className: 'PortalGateway',
  file: 'portal-gateway.ts',
  text: 'Gives endpoint, token and one shared connection to every element inside. Shows nothing of its own.',
  properties: [
    { ...endpoint, text: 'Address of the gateway: https, or http on localhost.' },
    portalOrigins,
    tokenProvider,
    client,
  ],
  readonlyProperties: [updateComplete],
  methods: [],
  events: [{ ...errorEvent, text: 'A token stood in an attribute, and was removed.' }, tokenRequest],
  slots: [{ name: '', text: "The page's own content." }],
  parts: [],
  states: [],
  cssProperties: [],
};

/** The three elements. */
export const contract: readonly ElementContract[] = [launch, orderStatus, gateway];
