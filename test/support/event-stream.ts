import { type IncomingMessage, request } from 'node:http';

/** One frame of server-sent events as it came. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
  /** A line that starts with a colon. */
  readonly comment?: string;
}

export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The next frame, or null when the answer is over. */
  readonly nextFrame: () => Promise<Frame | null>;
  /** The next frame with a result: past comments and retry delays, null when the stream is over. */
  readonly next: () => Promise<Frame | null>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  readonly leave: () => void;
}

export interface EventStreamRequest {
  readonly url: string;
  readonly token: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly method?: 'GET' | 'POST';
  readonly lastEventId?: string | undefined;
  /** Of the page that asks. */
  readonly origin?: string | undefined;
  readonly requestId?: string | undefined;
}

/**
 * Opens a subscription over SSE and shows every frame. With node:http, because the built-in fetch of Node 26
 * throws out of band when such a stream is left. Reads nothing before it is asked to.
 */
export async function openEventStream(options: EventStreamRequest): Promise<EventStream> {
  const response = await send(options);
  const frames = readFrames(response);
  const nextFrame = async () => (await frames.next()).value ?? null;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  response.socket.once('close', () => resolve());
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    nextFrame,
    next: async () => {
      for (let frame = await nextFrame(); frame !== null; frame = await nextFrame()) {
        if (frame.event === 'complete') return null;
        if (frame.event === 'next') return frame;
      }
      return null;
    },
    closed,
    leave: () => void response.destroy(),
  };
}

function send({ url, token, query, variables, ...more }: EventStreamRequest): Promise<IncomingMessage> {
  const { method = 'POST', lastEventId, origin, requestId } = more;
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${token}`,
    ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    ...(origin === undefined ? {} : { origin }),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
  };
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables ?? {}) });
  const address = method === 'GET' ? `${url}/graphql?${search}` : `${url}/graphql`;
  return new Promise((resolve, reject) => {
    request(address, { method, headers }, resolve)
      .on('error', reject)
      .end(method === 'GET' ? undefined : JSON.stringify({ query, variables }));
  });
}

async function* readFrames(response: IncomingMessage): AsyncGenerator<Frame, undefined> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) yield Object.fromEntries(frame.split('\n').map(readLine));
  }
  return undefined;
}

function readLine(line: string): readonly [string, string] {
  const at = line.indexOf(':');
  const value = line.slice(at + 1).trimStart();
  return at === 0 ? ['comment', value] : [line.slice(0, at), value];
}
