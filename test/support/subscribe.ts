import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { openEventStream } from './event-stream.ts';

/** A subscription under way, whichever way it travels. */
export interface Subscribed {
  /** The next execution result, or null when the stream is over. */
  readonly next: () => Promise<ExecutionResult | null>;
  readonly close: () => Promise<void>;
}

export interface ExecutionResult {
  // biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
  readonly data?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly errors?: readonly any[];
}

export interface SubscribeOptions {
  readonly url: string;
  readonly token: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

export type Subscribe = (options: SubscribeOptions) => Promise<Subscribed>;

/** Over HTTP as server-sent events (`Accept: text/event-stream`). */
export const subscribeOverSse: Subscribe = async (options) => {
  const stream = await openEventStream(options);
  return {
    next: async () => {
      const frame = await stream.next();
      return frame === null ? null : JSON.parse(frame.data ?? '');
    },
    close: async () => stream.leave(),
  };
};

/** Over WebSocket (`graphql-transport-ws`). */
export const subscribeOverWebSocket: Subscribe = async ({ url, token, query, variables }) => {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  });
  const results = client.iterate({ query, variables: { ...variables } });
  return {
    next: async () => {
      const { value, done } = await results.next();
      return done ? null : (value as ExecutionResult);
    },
    close: async () => {
      await results.return?.();
      await client.dispose();
    },
  };
};

export const transports: readonly (readonly [string, Subscribe])[] = [
  ['SSE', subscribeOverSse],
  ['WebSocket', subscribeOverWebSocket],
];
