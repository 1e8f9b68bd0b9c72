import type { Plugin } from 'vite';

/** One change to the text of a file of a library. */
export interface Change {
  readonly file: RegExp;
  readonly from: RegExp;
  readonly to: string;
}

/** Changes libraries while they are built in. The build fails unless each place is there once. */
export function changeLibraries(changes: readonly Change[]): Plugin {
  const open = new Set(changes);
  return {
    name: 'change-libraries',
    apply: 'build',
    transform(code, id) {
      let changed = code;
      for (const change of changes.filter(({ file }) => file.test(id))) {
        const places = changed.match(change.from)?.length;
        if (places !== 1) throw new Error(`${id} has ${places ?? 0} places like ${change.from}.`);
        changed = changed.replace(change.from, change.to);
        open.delete(change);
      }
      return changed === code ? null : { code: changed, map: null };
    },
    buildEnd(error) {
      if (error) return;
      for (const { file } of open) throw new Error(`The build does not contain ${file}.`);
    },
  };
}
