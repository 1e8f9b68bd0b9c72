import type { Plugin } from 'vite';

/** One change to the text of a file of a library. */
interface Change {
  readonly file: RegExp;
  readonly from: RegExp;
  readonly to: string;
}

const graphqlWs = /graphql-ws\/dist\/client\.js$/;
const lit = /(reactive-element|lit-html|lit-element)\.js$/;

/** What the page needs to be different, and code that the widget cannot reach (decision 0097 has the bytes). */
const CHANGES: readonly Change[] = [
  // A page allows a Trusted Types policy by its name, and each name once: copies of the module share the policy.
  {
    file: /lit-html\.js$/,
    from: /\b(\w+)\.createPolicy\("lit-html",(\{.*?\})\)/g,
    to: '(globalThis[Symbol.for("labgraph.portal-widget.policy")]??=$1.createPolicy("portal-widget",$2))',
  },
  // Importing the module where there is no page does nothing.
  { file: /lit-html\.js$/, from: /\bdocument\b/g, to: '(globalThis.document??{createTreeWalker(){}})' },
  {
    file: /reactive-element\.js$/,
    from: /\bextends HTMLElement\b/g,
    to: 'extends(globalThis.HTMLElement??class{})',
  },
  // Every browser with `:state()` has adopted style sheets: Lit's way without them would be dead code.
  { file: /css-tag\.js$/, from: /\w\.ShadowRoot&&.*?CSSStyleSheet\.prototype/g, to: 'true' },
  // The widget reads every field of a message as untrusted; graphql-ws would do it once more, in 4 kB.
  {
    file: /graphql-ws\/dist\/common-.*\.js$/,
    from: /function validateMessage\(val\) \{/g,
    to: '$& return val;',
  },
  // `socket.ts` subscribes and terminates, waits and retries by its own rules, and gives a WebSocket.
  { file: graphqlWs, from: /if \(!lazy\) \{/g, to: 'if (false) {' },
  { file: graphqlWs, from: /on: emitter\.on,\s+subscribe,.+(?=terminate\(\) \{)/gs, to: 'subscribe, ' },
  { file: graphqlWs, from: /(?<=retryWait) = async function.+(?=,\s+shouldRetry =)/gs, to: '' },
  { file: graphqlWs, from: /let ws;.+(?=const WebSocketImpl)/gs, to: 'let ws = webSocketImpl;' },
  { file: graphqlWs, from: /if \(isLikeCloseEvent\(\w+\) && \(isFatal.+(?=if \(disposed\))/gs, to: '' },
  { file: graphqlWs, from: /if \(isFinite\(lazyCloseTimeoutMs\)/g, to: 'if (false' },
  { file: graphqlWs, from: /if \(isFinite\(connectionAckWaitTimeout\)/g, to: 'if (false' },
  // No attribute is reflected, and nothing here is decorated, controlled, a directive, SVG or MathML.
  { file: /reactive-element\.js$/, from: /toAttribute\(t,s\)\{.*?return t\},/g, to: '' },
  { file: /reactive-element\.js$/, from: /(?<=_\$ET\(t,s\)\{).*?\}(?=\}_\$AK)/g, to: '' },
  { file: /reactive-element\.js$/, from: /const t=this\[Symbol\.metadata\];.*?\}(?=this\._\$Eh)/g, to: '' },
  { file: /reactive-element\.js$/, from: /Symbol\.metadata\?\?=.*?new WeakMap;/g, to: '' },
  { file: /reactive-element\.js$/, from: /addController\(t\)\{.*?removeController.*?\}/g, to: '' },
  { file: /lit-html\.js$/, from: /let h=void 0!==e\?.*?,i(?=\}class R)/g, to: 'return i' },
  { file: /lit-html\.js$/, from: /2===i\|\|3===i/g, to: 'false' },
  { file: /lit-html\.js$/, from: /2===i\?"<svg>":3===i\?"<math>":""/g, to: '""' },
  { file: /lit-html\.js$/, from: /\(2===i\?"<\/svg>":3===i\?"<\/math>":""\)/g, to: '""' },
  // For Lit's own polyfills and warnings: nothing of the page is read or set.
  { file: lit, from: /\w\.\w+PolyfillSupport/g, to: 'void 0' },
  { file: lit, from: /[,;]\(\w\.\w+Versions\?\?=\[\]\)\.push\("[\d.]+"\)/g, to: '' },
  { file: /lit-element\.js$/, from: /\w\.litElementHydrateSupport/g, to: '(void 0)' },
];

/** Changes Lit and graphql-ws for the module for pages, which contains them. The build fails unless each place is there once. */
export function librariesForPages(): Plugin {
  const open = new Set(CHANGES);
  return {
    name: 'libraries-for-pages',
    apply: 'build',
    transform(code, id) {
      let changed = code;
      for (const change of CHANGES.filter(({ file }) => file.test(id))) {
        const places = changed.match(change.from)?.length;
        if (places !== 1) throw new Error(`${id} has ${places ?? 0} places like ${change.from}.`);
        changed = changed.replace(change.from, change.to);
        open.delete(change);
      }
      return changed === code ? null : { code: changed, map: null };
    },
    buildEnd(error) {
      if (error) return;
      for (const { file } of open) throw new Error(`The module for pages does not contain ${file}.`);
    },
  };
}
