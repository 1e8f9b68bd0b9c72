import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { connectToRabbit, prepareRabbit, type RabbitServer } from '../support/rabbitmq.ts';

/** A broker whose durable queue gets every event, and what a gateway needs to consume it. */
export interface Broker extends AsyncDisposable {
  readonly server: RabbitServer;
  readonly env: Readonly<Record<string, string>>;
  /** Publishes as the service does. False when the broker has not confirmed it. */
  readonly publish: (body: string) => Promise<boolean>;
}

const queue = 'events';
const maxPlainBytes = 1024;

export async function openBroker(around: string): Promise<Broker> {
  const folder = join(around, 'rabbitmq');
  mkdirSync(folder);
  const server = await prepareRabbit(folder);
  await server.start();
  const connection = connectToRabbit(server.url);
  await connection.queueDeclare({ queue, durable: true });
  const publisher = connection.createPublisher({ confirm: true, maxAttempts: 1 });
  return {
    server,
    env: { INTAKE_RABBITMQ_URL: server.url, INTAKE_RABBITMQ_QUEUE: queue },
    publish: async (body) => {
      const plain = Buffer.from(body);
      const isLarge = plain.length > maxPlainBytes;
      const fields = { routingKey: queue, contentType: 'application/json', durable: true };
      const encoding = isLarge ? { contentEncoding: 'gzip' } : {};
      const sending = publisher.send({ ...fields, ...encoding }, isLarge ? gzipSync(plain) : plain);
      return await sending.then(
        () => true,
        () => false,
      );
    },
    [Symbol.asyncDispose]: async () => {
      connection.unsafeDestroy();
      await server.end('SIGKILL');
    },
  };
}
