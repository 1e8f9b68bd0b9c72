import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import * as operations from '../src/gateway/operations.ts';
import * as resultOperations from '../src/results/operations.ts';

/**
 * Writes `operations.json`: every document the widget sends, by the sha256 hash of its text. A gateway that takes only
 * listed operations from browsers reads it.
 */
export function listOperations(): Plugin {
  return {
    name: 'operations',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'operations.json', source: describeOperations() });
    },
  };
}

export function describeOperations(): string {
  const documents: readonly string[] = [...Object.values(operations), ...Object.values(resultOperations)];
  const byHash = documents.map((document) => [createHash('sha256').update(document).digest('hex'), document]);
  return `${JSON.stringify(Object.fromEntries(byHash), null, 2)}\n`;
}
