import type { EventLog } from '../../../gateway/events/log.ts';
import { createMemoryLog, createMemoryReplies } from '../../../gateway/events/memory/log.ts';
import type { Replies } from '../../../gateway/events/replies.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { makeFolder } from '../../support/folder.ts';

export interface OpenStore extends AsyncDisposable {
  readonly log: EventLog;
  readonly replies: Replies;
}

/** Every store that promises what `EventLog` and `Replies` promise. */
export const stores: readonly { readonly name: string; readonly open: () => Promise<OpenStore> }[] = [
  {
    name: 'memory',
    open: async () => {
      const log = createMemoryLog();
      return { log, replies: createMemoryReplies(), [Symbol.asyncDispose]: log.close };
    },
  },
  {
    name: 'SQLite',
    open: async () => {
      const folder = makeFolder();
      const store = openSqliteStore(folder.file('events.db'), { keys: [], access: 'exclusive' });
      return {
        ...store,
        [Symbol.asyncDispose]: async () => {
          await store.log.close();
          folder[Symbol.dispose]();
        },
      };
    },
  },
];
