import { vi } from 'vitest';
import type { EventLog } from '../../../gateway/events/log.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { checkEveryMs } from '../../../gateway/events/waiters.ts';
import { makeFolder } from '../../support/folder.ts';

export interface Beside extends AsyncDisposable {
  /** A gateway's log. */
  readonly log: EventLog;
  /** A command's, over the same file. */
  readonly command: EventLog;
  readonly path: string;
  /** Both look at the end of the file: when they do is the test's to say. */
  readonly look: () => void;
}

export async function openBeside(): Promise<Beside> {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  const folder = makeFolder();
  const open = async (access: 'exclusive' | 'shared') =>
    (await openSqliteStore(folder.file('events.db'), { keys: [], access })).log;
  const [log, command] = [await open('exclusive'), await open('shared')];
  return {
    log,
    command,
    path: folder.file('events.db'),
    look: () => void vi.advanceTimersByTime(checkEveryMs),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([log.close(), command.close()]);
      vi.useRealTimers();
      folder[Symbol.dispose]();
    },
  };
}
