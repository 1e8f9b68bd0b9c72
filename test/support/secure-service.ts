import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { listenAnywhere } from './listening.ts';

/** A certificate for tests and for this machine's address; `trustSecureServices` trusts it. */
const key = readFileSync(new URL('./tls/key.pem', import.meta.url), 'utf8');
const cert = readFileSync(new URL('./tls/certificate.pem', import.meta.url), 'utf8');

/** Lets this process take the certificate of these services for good. */
export function trustSecureServices(): void {
  setDefaultCACertificates([...getCACertificates('default'), cert]);
}

export type SecureAnswer = (
  request: Http2ServerRequest | IncomingMessage,
  response: Http2ServerResponse | ServerResponse,
) => void;

/** A real server with TLS that speaks HTTP/2, or only HTTP/1.1. */
export interface SecureService extends AsyncDisposable {
  readonly url: string;
  /** `2.0 GET /path` of each request, in order. */
  readonly calls: () => readonly string[];
  /** How many connections were opened to it. */
  readonly connections: () => number;
  /** Ends all connections as a server that restarts does: those under way may finish, new ones must go elsewhere. */
  readonly sendAway: () => void;
}

export async function startSecureService(
  answer: SecureAnswer,
  { speaks = 'h2' }: { readonly speaks?: 'h2' | 'http/1.1' } = {},
): Promise<SecureService> {
  const calls: string[] = [];
  const sockets: TLSSocket[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const note: SecureAnswer = (request, response) => {
    calls.push(`${request.httpVersion} ${request.method} ${request.url}`);
    answer(request, response);
  };
  const server = speaks === 'h2' ? createHttp2({ key, cert }, note) : createHttps({ key, cert }, note);
  server.on('secureConnection', (socket: TLSSocket) => sockets.push(socket));
  server.on('session', (session: ServerHttp2Session) => sessions.add(session));
  return {
    url: (await listenAnywhere(server)).replace('http:', 'https:'),
    calls: () => calls,
    connections: () => sockets.length,
    sendAway: () => {
      for (const session of sessions) session.close();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
