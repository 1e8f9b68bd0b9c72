import { type IncomingMessage, request } from 'node:http';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

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

/**
 * Over HTTP as server-sent events (`Accept: text/event-stream`). With node:http, because the built-in fetch of
 * Node 26 throws out of band when such a stream is left.
 */
export const subscribeOverSse: Subscribe = async ({ url, token, query, variables }) => {
  const response = await postForStream(url, token, JSON.stringify({ query, variables }));
  const frames = readFrames(response);
  return {
    next: async () => (await frames.next()).value ?? null,
    close: async () => {
      response.destroy();
    },
  };
};

function postForStream(url: string, token: string, body: string): Promise<IncomingMessage> {
  const headers = {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  };
  return new Promise((resolve, reject) => {
    request(`${url}/graphql`, { method: 'POST', headers }, resolve).on('error', reject).end(body);
  });
}

async function* readFrames(response: IncomingMessage): AsyncGenerator<ExecutionResult, undefined> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split('\n');
      if (lines.includes('event: complete')) return undefined;
      const data = lines.find((line) => line.startsWith('data: '));
      if (data !== undefined && data !== 'data: ') yield JSON.parse(data.slice('data: '.length));
    }
  }
  return undefined;
}

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
