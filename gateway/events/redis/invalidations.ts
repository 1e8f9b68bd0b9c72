import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EventLog } from '../log.ts';
import { redisText } from './codec.ts';
import { type Connection, oncePerTurn } from './connection.ts';
import type { Hints } from './positions.ts';
import { entryShape, maxHints, toHint } from './pubsub.ts';
import { keyPrefix } from './script.ts';

const bus = `${keyPrefix}bus`;
const told = `${keyPrefix}told`;
/** More than gateways tell each other while anything they tell of matters, which is seconds. */
const maxTold = '10000';

const lastShape = z.array(z.tuple([redisText, z.unknown()]));
const streamsShape = z.array(z.tuple([redisText, z.array(entryShape)])).nullable();

export interface WordOptions {
  readonly reads: Connection;
  readonly writes: Connection;
  readonly hints: Hints;
}

/**
 * What gateways over one log tell each other, and catching up with it and with the bus: one command, which waits for
 * nothing, for all who ask in one turn of the event loop.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE
 */
export async function openWord({
  reads,
  writes,
  hints,
}: WordOptions): Promise<Pick<EventLog, 'catchUp' | 'publish' | 'subscribe'>> {
  const own = randomUUID();
  const listeners = new Set<(word: string) => void>();
  const [last] = lastShape.parse(await reads.send(['XREVRANGE', told, '+', '-', 'COUNT', '1']));
  let heard = last?.[0] ?? '0-0';

  const hear = ([id, [, by = '', , word = '']]: z.infer<typeof entryShape>) => {
    heard = id;
    if (by !== own) for (const listener of listeners) listener(word);
  };
  const readOn = async () => {
    const command = ['XREAD', 'COUNT', String(maxHints), 'STREAMS', bus, told];
    const streams = streamsShape.parse(await reads.send([...command, `${hints.heard()}-0`, heard])) ?? [];
    for (const [name, entries] of streams) {
      for (const entry of entries) {
        if (name === told) hear(entry);
        else hints.tellHeard(toHint(entry));
      }
    }
    if (streams.some(([, entries]) => entries.length === maxHints)) await readOn();
  };
  return {
    catchUp: oncePerTurn(readOn),
    publish: async (word) => {
      await writes.send(['XADD', told, 'MAXLEN', '~', maxTold, '*', 'by', own, 'word', word]);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
