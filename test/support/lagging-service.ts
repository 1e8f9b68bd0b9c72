import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { listenAnywhere } from './listening.ts';

/** A service whose reads come from a copy that lags behind: once held, every read answers as it did before. */
export interface LaggingService {
  readonly url: string;
  /** From now on reads that were answered before are answered the same again. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly close: () => Promise<void>;
}

/** In front of a real service at `target`; writes go through. */
export async function startLaggingService(target: string): Promise<LaggingService> {
  const recorded = new Map<string, { readonly status: number; readonly body: Buffer }>();
  let isHeld = false;
  const server: Server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const held = isHeld && method === 'GET' ? recorded.get(url) : undefined;
    if (held !== undefined) {
      response.writeHead(held.status, { 'content-type': 'application/json' }).end(held.body);
      return;
    }
    const sent = Buffer.concat(await request.toArray());
    const { 'x-service-api-key': key, 'content-type': type } = request.headers;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { 'x-service-api-key': String(key), ...(type ? { 'content-type': type } : {}) },
      ...(sent.length > 0 ? { body: sent } : {}),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (method === 'GET') recorded.set(url, { status: answer.status, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  });
  return {
    url: await listenAnywhere(server),
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
