import { createClient, RESP_TYPES } from '@redis/client';

/** Never connected. The library builds a class of all its commands for each new set of options, which takes 10 to 30 ms. */
const model = createClient({
  RESP: 2,
  commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  disableOfflineQueue: true,
  maintNotifications: 'disabled',
});

/** Of a command. */
export type Argument = string | Buffer;

/**
 * A client that connects once: it does not reconnect, and queues nothing without a connection. Its replies have
 * Buffers for strings.
 * The timeout is only for connecting: wait for the answer of a command with `within`.
 */
export function createRedisClient(url: string, connectTimeout: number) {
  // All clients share the class of the model.
  return model.duplicate({ url, socket: { connectTimeout, reconnectStrategy: false } });
}

export class CommandTimeout extends Error {}

const ticks = 6;

/**
 * Waits for an answer. Only the time in which this process runs counts: when a suspended machine resumes, expired timers
 * run before answers that have arrived are read. So the limit is counted in ticks, and a suspension counts as one tick.
 * @throws CommandTimeout
 */
export async function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    if (count === ticks) late.reject(new CommandTimeout(`No answer in ${limitMs} ms.`));
  }, limitMs / ticks);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
