import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { gatewayKey, graphqlRequest, readTestConfig } from '../support/lab.ts';
import { type Answer, json, startMisbehavingService } from '../support/misbehaving-service.ts';

const order = { id: '0f2c8f5e-0000-4000-8000-00000000000a', user_id: '0f2c8f5e-0000-4000-8000-000000000001' };

/** A gateway over a service whose every answer is written here: the order, and a PDF that only begins. */
async function startOver() {
  const { promise: begun, resolve } = Promise.withResolvers<ServerResponse>();
  const beginPdf: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/pdf' });
    response.write('%PDF-', () => resolve(response));
  };
  const probe: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-');
  };
  const service = await startMisbehavingService(json(order), probe, json(order), beginPdf);
  const config = readTestConfig({ SERVICE_URL: service.url, EVENT_LOG: 'memory:' });
  const logged: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
  const gateway = await createGateway({ config, log, serviceUrl: service.url });
  const { url } = await gateway.listen();
  return {
    service,
    begun,
    logged,
    address: `${url}${await askForTicket(gateway, url)}`,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await gateway.close();
    },
  };
}

async function askForTicket(gateway: Gateway, url: string): Promise<string> {
  const query = `mutation { createDocumentTicket(input: { orderId: "${order.id}", kind: RESULT }) {
    ... on DocumentTicket { url } } }`;
  const answer = await gateway.fetch(graphqlRequest(url, { query }, gatewayKey));
  return (await answer.json()).data.createDocumentTicket.url;
}

function open(address: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, resolve).on('error', reject);
  });
}

test('a document passes through as it comes: its first bytes are there before the service has sent the last', async () => {
  await using over = await startOver();
  const response = await open(over.address);
  const chunks = response[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe('%PDF-');
  (await over.begun).end('rest');
  expect(String((await chunks.next()).value)).toBe('rest');
  expect((await chunks.next()).done).toBe(true);
});

test('a client that leaves ends the transfer from the service', async () => {
  await using over = await startOver();
  const response = await open(over.address);
  await response[Symbol.asyncIterator]().next();
  response.destroy();
  await (await over.service.request(3)).abandoned;
  expect(over.logged.filter((line) => line.includes('document.'))).toEqual([]);
});

test('a transfer that breaks off is broken for the client too, and never looks whole', async () => {
  await using over = await startOver();
  const response = await open(over.address);
  const chunks = response[Symbol.asyncIterator]();
  await chunks.next();
  (await over.begun).socket?.destroy();
  await expect(chunks.next()).rejects.toThrow();
  expect(over.logged.filter((line) => line.includes('document.broken'))).toHaveLength(1);
});
