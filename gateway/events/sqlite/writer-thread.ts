import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Seal } from '../seal.ts';
import { busyMs, isSameFile } from './log-file.ts';
import { LogWriter } from './writer.ts';
import type { WriterData, WriterRequest, WriterResponse } from './writer-client.ts';

/** The entry point of the thread that writes, so that an fsync does not block reads and requests. */
// Only `writer-client.ts` starts this thread.
const { path, keys, files } = workerData as WriterData;
const database = new DatabaseSync(path, { timeout: busyMs });
// 8 MiB of pages: keys are hashes, so each message touches pages anywhere, and a group of 500 fills the usual 2 MiB.
database.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8192');
const writer = new LogWriter(database, new Seal(keys.map((key) => Buffer.from(key))));

parentPort?.on('message', ({ id, name, args }: WriterRequest) => {
  parentPort?.postMessage(respond(id, () => Reflect.apply(writer[name], writer, args)));
  if (name === 'close') parentPort?.close();
});

function respond(id: number, write: () => unknown): WriterResponse {
  try {
    const value = write();
    // Checked after the commit: data in a removed file is gone when this process ends.
    if (!files.every(isSameFile)) throw new Error('The file of the log, or its lock, was removed.');
    return { id, isDone: true, value };
  } catch (error) {
    return { id, isDone: false, reason: error instanceof Error ? error.message : 'not an error' };
  }
}
