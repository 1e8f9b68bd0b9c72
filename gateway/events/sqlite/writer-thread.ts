import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createSeal } from '../seal.ts';
import { busyMs } from './log-file.ts';
import { isSameFile } from './same-file.ts';
import { createWriting, type Writing } from './writer.ts';
import type { Answer, Ask, WriterData } from './writer-client.ts';

/** The thread that writes: an fsync holds up nobody who reads, subscribes or asks. */
// Made by `writer-thread.ts` and by nobody else.
const { path, keys, files } = workerData as WriterData;
const database = new DatabaseSync(path, { timeout: busyMs });
database.exec('PRAGMA synchronous = FULL');
const writing: Writing = createWriting(database, createSeal(keys.map((key) => Buffer.from(key))));

parentPort?.on('message', ({ id, name, args }: Ask) => {
  parentPort?.postMessage(answer(id, () => Reflect.apply(writing[name], writing, args)));
  if (name === 'close') parentPort?.close();
});

function answer(id: number, write: () => unknown): Answer {
  try {
    const value = write();
    // Looked at after the commit: what was removed before it would be gone with this process.
    if (!files.every(isSameFile)) throw new Error('The file of the log, or its lock, was removed.');
    return { id, isDone: true, value };
  } catch (error) {
    return { id, isDone: false, reason: error instanceof Error ? error.message : 'not an error' };
  }
}
