import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

/** A gateway with one fault that the harness must find. */
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

export const mutants: readonly Mutant[] = [
  {
    name: 'acknowledges before the commit',
    changes: [
      {
        file: 'gateway/webhooks/endpoint.ts',
        from: 'const appended = await options.events.append(message);',
        to: `options.events.append(message).catch(() => undefined);
    const appended = { position: 0, duplicate: false, altered: false };`,
      },
    ],
  },
  {
    name: 'keeps a message once more each time it comes',
    changes: [
      {
        file: 'gateway/events/sqlite/writing.ts',
        from: 'if (earlier !== undefined) {',
        to: "if (earlier !== undefined && readNumber(earlier, 'position') < 0) {",
      },
      {
        file: 'gateway/events/sqlite/writing.ts',
        from: 'INSERT INTO messages VALUES',
        to: 'INSERT OR REPLACE INTO messages VALUES',
      },
    ],
  },
  {
    name: 'does not filter by user',
    changes: [
      {
        file: 'gateway/domain/order/updates.ts',
        from: ': { userId: followed.userId, changesOnly: true };',
        to: ': { changesOnly: true };',
      },
    ],
  },
  {
    name: 'waits without looking at the position',
    changes: [
      {
        file: 'gateway/events/sqlite/store.ts',
        from: 'if (head <= after) await wakers.wait(scope, signal);',
        to: 'await wakers.wait(scope, signal);',
      },
      { file: 'gateway/events/wakers.ts', from: 'lookEveryMs = 1000', to: 'lookEveryMs = 86_400_000' },
    ],
  },
  {
    name: 'tells again what its snapshot has shown',
    changes: [
      {
        file: 'gateway/domain/order/updates.ts',
        from: 'if (isAhead) shown[order.id.toLowerCase()] = version;',
        to: '',
      },
    ],
  },
  {
    name: 'tells again what came while its snapshot was read',
    changes: [
      {
        file: 'gateway/domain/order/updates.ts',
        from: ' || latest.position > position;',
        to: ';',
      },
    ],
  },
  {
    name: 'resumes one place too early',
    changes: [
      {
        file: 'gateway/events/cursor.ts',
        from: '? { position, shown }',
        to: '? { position: position - 1, shown }',
      },
    ],
  },
];

/** A copy of the gateway with the mutant's changes in it. */
export function plantMutant({ name, changes }: Mutant): Disposable & { readonly source: string } {
  const source = mkdtempSync(join(tmpdir(), 'labgraph-mutant-'));
  cpSync(join(root, 'gateway'), join(source, 'gateway'), { recursive: true });
  cpSync(join(root, 'package.json'), join(source, 'package.json'));
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
