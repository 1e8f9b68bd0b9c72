import { inMemory } from '../../gateway/events/sqlite/log-file.ts';
import { openSqliteStore, type SqliteStore } from '../../gateway/events/sqlite/store.ts';

/** The store of `EVENT_LOG=memory:`. */
export function openMemoryStore(): Promise<SqliteStore> {
  return openSqliteStore(inMemory, { keys: [], access: 'exclusive' });
}
