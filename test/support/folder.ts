import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder extends Disposable {
  readonly path: string;
  readonly file: (name: string) => string;
}

/** A folder of its own for one test, gone with it. */
export function makeFolder(parent: string = tmpdir()): Folder {
  const path = mkdtempSync(join(parent, 'labgraph-'));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
