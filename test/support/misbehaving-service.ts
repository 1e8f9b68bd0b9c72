import { EventEmitter, on, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Upstream, type UpstreamOptions } from '../../gateway/service/client.ts';
import { listenAnywhere } from './listening.ts';

/** A request as the service saw it. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the connection is gone before it was answered, and never otherwise. */
  readonly abandoned: Promise<unknown>;
}

export type Answer = (response: ServerResponse) => void;

/** A real server on 127.0.0.1 with scripted answers. */
export interface MisbehavingService extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** `GET /path` of each request, in order. */
  readonly calls: () => readonly string[];
  /** Answers of the next requests, in order; the last one stays. */
  readonly willAnswer: (...answers: readonly Answer[]) => void;
  /** The request of this number (0 = the first), as soon as it has come. */
  readonly request: (index: number) => Promise<Seen>;
}

export async function startMisbehavingService(...first: readonly Answer[]): Promise<MisbehavingService> {
  const seen: Seen[] = [];
  const arrivals = new EventEmitter();
  let answers = [...first];
  const server = createServer(async (request, response) => {
    const abandoned = once(response, 'close').then(() => {
      if (response.writableFinished) return new Promise(() => {});
    });
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, path, headers, body, abandoned });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    arrivals.emit('request');
    answer?.(response);
  });
  return {
    url: await listenAnywhere(server),
    seen,
    calls: () => seen.map(({ method, path }) => `${method} ${path}`),
    willAnswer: (...next) => {
      answers = [...next];
    },
    request: async (index) => {
      const arrived = on(arrivals, 'request');
      for (;;) {
        const request = seen[index];
        if (request !== undefined) return request;
        await arrived.next();
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return text(JSON.stringify(value), status, { 'content-type': 'application/json', ...headers });
}

export function text(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => response.writeHead(status, headers).end(body);
}

/** Cuts the connection without an answer. */
export const reset: Answer = (response) => {
  response.socket?.resetAndDestroy();
};

/** Promises more than it sends, then cuts the connection. */
export const cutShort: Answer = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"half":', () => response.socket?.destroy());
};

/** Never answers. */
export const silence: Answer = () => {};

/** Sends its head and then nothing more. */
export const stall: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
};

/** An upstream with short times, closed with its service. */
export interface OpenUpstream extends AsyncDisposable {
  readonly service: MisbehavingService;
  readonly upstream: Upstream;
}

export async function openUpstream(
  answers: readonly Answer[],
  more: Partial<UpstreamOptions> = {},
): Promise<OpenUpstream> {
  const service = await startMisbehavingService(...answers);
  const upstream = new Upstream({
    url: service.url,
    apiKey: 'key-of-the-team',
    apiKeyHeader: 'x-service-api-key',
    retryDelayMs: 1,
    ...more,
  });
  return {
    service,
    upstream,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}
