import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { type Lab, type LabOptions, serviceKey, startLab } from './lab.ts';
import { listenAnywhere } from './listening.ts';
import type { Answer } from './misbehaving-service.ts';

/** An answer in place of the service's. */
export interface Spoil {
  /** Searched in `POST /v3/order?x=y`. */
  readonly at: RegExp;
  /** Whether the service has done its work by then. */
  readonly isDone: boolean;
  readonly answer: Answer;
  /** Once where left out. */
  readonly times?: number;
}

/** A request as it went to the service. */
interface Sent {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A lab whose gateway reaches the sandbox through a server that can answer in its place. */
export interface SpoiltLab extends Lab {
  readonly spoil: (rule: Spoil) => void;
  /** Removes all rules: the service answers by itself again. */
  readonly mend: () => void;
  /** Every request that the gateway sent, spoilt or not. */
  readonly sent: readonly Sent[];
  /** The service's own answer to a GET, past the gateway. */
  readonly peek: (path: string) => Promise<unknown>;
}

export async function startSpoiltLab({ env, ...options }: LabOptions = {}): Promise<SpoiltLab> {
  const sent: Sent[] = [];
  const rules: { readonly rule: Spoil; left: number }[] = [];
  const servers: Server[] = [];

  const takeRule = (call: string): Spoil | undefined => {
    const found = rules.find(({ rule, left }) => left > 0 && rule.at.test(call));
    if (found) found.left -= 1;
    return found?.rule;
  };
  const handle = async (sandbox: Sandbox, request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const call = `${request.method} ${request.url}`;
    sent.push({ call, headers: request.headers, body });
    const rule = takeRule(call);
    const forward = async () => await sandbox.fetch(toRequest(request, body));
    if (rule === undefined) return await send(await forward(), response);
    if (rule.isDone) await forward();
    rule.answer(response);
  };

  const lab = await startLab({
    ...options,
    // Hundreds of these are opened to test answers of the service; the log is tested elsewhere.
    env: { EVENT_LOG: 'memory:', ...env },
    serve: async (sandbox) => {
      const server = createServer((request, response) => void handle(sandbox, request, response));
      servers.push(server);
      return await listenAnywhere(server);
    },
  });
  return {
    ...lab,
    sent,
    spoil: (rule) => void rules.push({ rule, left: rule.times ?? 1 }),
    mend: () => {
      rules.length = 0;
    },
    peek: async (path) => {
      const headers = { 'x-service-api-key': serviceKey };
      const response = await lab.sandbox.fetch(new Request(`${lab.serviceUrl}${path}`, { headers }));
      return response.ok ? await response.json() : response.status;
    },
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

function toRequest({ method = 'GET', url, headers }: IncomingMessage, body: Buffer): Request {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://service${url}`, {
    method,
    headers: given,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}
