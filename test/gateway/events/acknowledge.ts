import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { newMessage } from '../../support/messages.ts';

/** A process that appends without end and names every message on its output once it is acknowledged. */
const { log } = await openSqliteStore(process.argv[2] ?? '', { keys: [], access: 'exclusive' });
for (let round = 0; ; round += 1) {
  const ids = Array.from({ length: 5 }, (_, index) => `message-${round}-${index}`);
  await Promise.all(
    ids.map(async (id) => {
      await log.append(newMessage(id));
      process.stdout.write(`${id}\n`);
    }),
  );
  await nextTurn();
}
