import type { Plugin } from 'vite';
import { type Change, changeLibraries } from './change-libraries.ts';

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
  // A socket without operations is never opened.
  { file: /graphql-ws\/dist\/client\.js$/, from: /if \(!lazy\) \{/g, to: 'if (false) {' },
  // The widget subscribes with callbacks.
  { file: /graphql-ws\/dist\/client\.js$/, from: /\biterate\(request\) \{/g, to: '$& return;' },
];

/** Changes Lit and graphql-ws for the module for pages, which contains them. */
export const librariesForPages = (): Plugin => changeLibraries(CHANGES);
