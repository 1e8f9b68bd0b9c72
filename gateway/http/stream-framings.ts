import type { ExecutionResult } from 'graphql';
import type { HttpTransport } from '../execution/run-operation.ts';
import { readStreamItem, writeResult } from '../execution/streams.ts';

/** How the results of a stream are written into the body of an answer. */
export interface Framing {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent at once. */
  readonly opening: string;
  /** Sent while there are no results, so that proxies do not close the connection. */
  readonly heartbeat: string;
  readonly describe: (result: ExecutionResult) => string;
  /** Sent when the subscription is over. */
  readonly ending: string;
}

const headers = {
  // The client sends nothing more over this connection once the stream has ended.
  connection: 'close',
  // For proxies that buffer answers before they pass them on: nginx, and those that compress, such as Next.js and webpack's.
  'x-accel-buffering': 'no',
  'cache-control': 'no-store, no-transform',
} as const;

/** How long an EventSource waits before it reconnects. */
const retryMs = 2000;

/**
 * Server-sent events as in the protocol of graphql-sse (distinct connections). The `id` is the cursor of the item, so that
 * `Last-Event-ID` resumes.
 */
const sse: Framing = {
  mediaType: 'text/event-stream',
  headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
  opening: `retry: ${retryMs}\n\n`,
  heartbeat: ':\n\n',
  describe: (result) => {
    const item = readStreamItem(result);
    return `${item === null ? '' : `id: ${item.cursor}\n`}event: next\ndata: ${writeResult(result)}\n\n`;
  },
  ending: 'event: complete\ndata:\n\n',
};

const boundary = '--graphql';

/**
 * One part of the answer for each result, as in Apollo's protocol for subscriptions over HTTP. A client reads a part when it
 * sees the boundary after it, so the boundary is sent with the part.
 */
const multipart: Framing = {
  mediaType: 'multipart/mixed',
  headers: { ...headers, 'content-type': 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"' },
  opening: `\r\n${boundary}${toPart('{}')}`,
  heartbeat: toPart('{}'),
  describe: (result) => toPart(`{"payload":${writeResult(result)}}`),
  ending: '--\r\n',
};

function toPart(json: string): string {
  return `\r\ncontent-type: application/json\r\n\r\n${json}\r\n${boundary}`;
}

export const framings: Readonly<Record<HttpTransport, Framing>> = { sse, multipart };
