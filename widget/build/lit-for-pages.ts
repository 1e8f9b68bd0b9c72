import type { Plugin } from 'vite';

/** One change to the text of a file of Lit. */
interface Change {
  readonly file: RegExp;
  readonly from: RegExp;
  readonly to: string;
}

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
];

/** Changes Lit for the module for pages, which contains it. The build fails if Lit does not have exactly one such place. */
export function litForPages(): Plugin {
  const open = new Set(CHANGES);
  return {
    name: 'lit-for-pages',
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
      if (!error && open.size > 0) throw new Error('The module for pages does not contain Lit.');
    },
  };
}
