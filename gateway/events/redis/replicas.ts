import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { redisText } from './codec.ts';
import { type Connection, oncePerTurn } from './connection.ts';
import { keyPrefix } from './script.ts';

/** How long a replica may take to confirm, in milliseconds. */
const waitMs = 1000;

/** Makes sure that what was written survives the loss of the server, where it has a replica. */
export interface Replicas {
  /**
   * Does a write and resolves with its answer when a replica has it too.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when none has, in time, or the server is weak; it may be kept nevertheless
   */
  readonly write: <T>(work: () => Promise<T>) => Promise<T>;
  /** Looks how many replicas there are now. */
  readonly look: () => Promise<void>;
}

/**
 * @param connection the one that all writes go over: WAIT speaks of one connection's writes only
 * @param requireStrong rejects while the server itself may lose what it acknowledges
 */
export function createReplicas(connection: Connection, requireStrong: () => Promise<void>): Replicas {
  let count = 0;

  // A write of its own in front: WAIT then covers everything before it, also what an earlier connection wrote and
  // this one only found there (a repeated message must not be acknowledged before its original is safe).
  const confirm = oncePerTurn(async () => {
    const fence = connection.send(['SET', `${keyPrefix}fence`, '1']);
    const [, confirmed] = await Promise.all([fence, connection.send(['WAIT', '1', String(waitMs)])]);
    if (z.number().parse(confirmed) < 1) throw unconfirmed();
  });

  return {
    write: async (work) => {
      await requireStrong();
      const session = connection.session();
      const result = await work();
      if (count > 0) await confirm();
      // Another connection may lead to another server, which has not seen the write.
      if (count > 0 && connection.session() !== session) throw unconfirmed();
      return result;
    },
    look: async () => {
      const text = redisText.parse(await connection.send(['INFO', 'replication']));
      count = Number(/^connected_slaves:(\d+)/m.exec(text)?.[1] ?? 0);
    },
  };
}

function unconfirmed(): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'No replica of the event log has confirmed the write.');
}
