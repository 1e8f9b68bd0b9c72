import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

/** A gateway with one fault that a test must find. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly Change[];
}

interface Change {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A copy of the gateway with the mutant's changes in it. */
export function plantMutant({ name, changes }: Mutant): Disposable & { readonly source: string } {
  const source = mkdtempSync(join(tmpdir(), 'labgraph-mutant-'));
  cpSync(join(root, 'gateway'), join(source, 'gateway'), { recursive: true });
  for (const file of ['package.json', 'tsconfig.base.json']) cpSync(join(root, file), join(source, file));
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  for (const { file, from, to } of changes) {
    const path = join(source, file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2)
      throw new Error(`"${name}": "${from}" stands ${parts.length - 1} times in ${file}.`);
    writeFileSync(path, parts.join(to));
  }
  return { source, [Symbol.dispose]: () => rmSync(source, { recursive: true, force: true }) };
}
