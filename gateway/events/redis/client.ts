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
