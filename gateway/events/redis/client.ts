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

export interface RedisTimeouts {
  readonly connectMs: number;
  /** How long a connection may be silent. It also ends a handshake without an answer. */
  readonly silenceMs: number;
}

/** A client that is connected once: it does not reconnect, and queues nothing without a connection. Its texts are Buffers. */
export function createRedisClient(url: string, { connectMs, silenceMs }: RedisTimeouts) {
  // All clients share the class of the model.
  return model.duplicate({
    url,
    socket: { connectTimeout: connectMs, socketTimeout: silenceMs, reconnectStrategy: false },
  });
}
