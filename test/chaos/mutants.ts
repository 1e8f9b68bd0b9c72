import type { Mutant } from '../support/plant-mutant.ts';

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
        from: 'return isAhead ? [id, version] : null;',
        to: 'return null;',
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
