import type { ApolloLink as Link } from '@apollo/client';
import { createClient } from 'graphql-ws';
import type { ObservableNotification } from 'rxjs';
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

/** Over HTTP in the parts of one answer, by the link that Apollo Client has by default. */
export const subscribeOverMultipart: Subscribe = async ({ url, token, query, variables }) => {
  const { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } = await import('@apollo/client');
  const { materialize } = await import('rxjs');
  const opened = Promise.withResolvers<void>();
  const link = new HttpLink({
    uri: `${url}/graphql`,
    headers: { authorization: `Bearer ${token}` },
    fetch: (...request) => {
      const response = fetch(...request);
      response.then(() => opened.resolve(), opened.reject);
      return response;
    },
  });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const results = ApolloLink.execute(link, { query: gql(query), variables: { ...variables } }, { client });
  let leave = () => {};
  const notes = new ReadableStream<ObservableNotification<Link.Result>>({
    start: (controller) => {
      const subscription = results.pipe(materialize()).subscribe((note) => controller.enqueue(note));
      leave = () => subscription.unsubscribe();
    },
    cancel: () => leave(),
  }).getReader();
  await opened.promise;
  return {
    next: async () => {
      const { value: note } = await notes.read();
      if (note?.kind === 'E') throw note.error;
      return note?.kind === 'N' ? note.value : null;
    },
    close: async () => await notes.cancel(),
  };
};

export const transports: readonly (readonly [string, Subscribe])[] = [
  ['SSE', subscribeOverSse],
  ['WebSocket', subscribeOverWebSocket],
  ['multipart', subscribeOverMultipart],
];
