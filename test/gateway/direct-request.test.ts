import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readBody } from '../../gateway/http/direct-request.ts';
import { listenAnywhere } from '../support/listening.ts';

test('reading the body of a client that has left fails', async () => {
  const server = createServer();
  const { port } = new URL(await listenAnywhere(server));
  const client = connect(Number(port), '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nHost: gateway\r\nContent-Length: 10\r\n\r\nhalf');
  const [request]: IncomingMessage[] = await once(server, 'request');
  if (request === undefined) throw new Error('There is no request.');
  const closed = once(request, 'close').catch(() => undefined);
  client.destroy();
  await closed;

  await expect(readBody(request)).rejects.toThrow('The client has left.');
  server.close();
});
