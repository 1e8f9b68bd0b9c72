import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What came with a form to `POST /launch`. */
export interface Launch {
  readonly body: string;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
}

/**
 * A gateway of which only the ways to the portal are there: it tells the portal's address, or gives one ticket and sends
 * whoever posts it on.
 */
export interface TicketGateway {
  readonly endpoint: string;
  readonly launches: readonly Launch[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export async function startTicketGateway(portalUrl: string): Promise<TicketGateway> {
  const launches: Launch[] = [];
  const server = createServer(async (request, response) => {
    const { origin = '*' } = request.headers;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-allow-headers', 'authorization, content-type');
    if (request.url !== '/launch') {
      const launch = (await text(request)).includes('createLaunchTicket')
        ? { __typename: 'LaunchTicket', ticket: 'ticket-once' }
        : { __typename: 'PortalUrl', url: portalUrl };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: { launch } }));
      return;
    }
    launches.push(await readLaunch(request));
    response.writeHead(303, { location: portalUrl, 'referrer-policy': 'no-referrer' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}/graphql`,
    launches,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readLaunch(request: IncomingMessage): Promise<Launch> {
  const { origin, 'content-type': contentType } = request.headers;
  return { body: await text(request), origin, contentType };
}
