import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** One request to the service and its answer, both read to their ends. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** Parsed JSON, a form, or null without a body. */
  readonly sent: unknown;
  readonly status: number;
  readonly contentType: string;
  /** Parsed JSON, else the text. */
  readonly received: unknown;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `a/b; charset=...` is `a/b`. */
function typeOf(message: Request | Response): string {
  return (message.headers.get('content-type') ?? '').split(';')[0] ?? '';
}

async function readSent(request: Request): Promise<unknown> {
  if (typeOf(request) === 'multipart/form-data') return await request.formData();
  const text = await request.text();
  return text === '' ? null : readJson(text);
}

/** Passes the request to the sandbox and records request and response. */
export async function exchange(sandbox: Sandbox, request: Request): Promise<[Exchange, Response]> {
  const copy = request.clone();
  const response = await sandbox.fetch(request);
  const { pathname, searchParams } = new URL(request.url);
  const contentType = typeOf(response);
  const text = await response.clone().text();
  const recorded: Exchange = {
    method: request.method,
    path: pathname,
    query: searchParams,
    headers: copy.headers,
    sent: await readSent(copy),
    status: response.status,
    contentType,
    received: contentType === 'application/json' ? readJson(text) : text,
  };
  return [recorded, response];
}

/** A real HTTP server before a sandbox, which records every exchange. */
export interface Recorder extends AsyncDisposable {
  readonly exchanges: readonly Exchange[];
  readonly listen: (sandbox: Sandbox) => Promise<string>;
}

async function toRequest(message: IncomingMessage): Promise<Request> {
  const body = Buffer.concat(await message.toArray());
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each);
  }
  const { method = 'GET', url = '/' } = message;
  return new Request(`http://service.test${url}`, { method, headers, ...(body.length > 0 ? { body } : {}) });
}

async function startServer(sandbox: Sandbox, exchanges: Exchange[]): Promise<Server> {
  const server = createServer(async (message, answer) => {
    const [recorded, response] = await exchange(sandbox, await toRequest(message));
    exchanges.push(recorded);
    answer.writeHead(response.status, Object.fromEntries(response.headers));
    answer.end(Buffer.from(await response.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Nothing listens before `listen`, which returns the address. */
export function createRecorder(): Recorder {
  const exchanges: Exchange[] = [];
  let server: Server | null = null;
  return {
    exchanges,
    listen: async (sandbox) => {
      server = await startServer(sandbox, exchanges);
      const address = server.address();
      if (typeof address !== 'object' || address === null) throw new Error('The recorder has no port.');
      return `http://127.0.0.1:${address.port}`;
    },
    [Symbol.asyncDispose]: async () => {
      server?.close();
      server?.closeAllConnections();
    },
  };
}
