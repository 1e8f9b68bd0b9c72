import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { connectToRabbit, prepareRabbit, type RabbitServer } from '../support/rabbitmq.ts';

/** A broker that gets every event, and what a gateway needs to take events from it. */
export interface Broker extends AsyncDisposable {
  /** Null where it pushes: then a message that was published is durable. */
  readonly server: RabbitServer | null;
  readonly env: Readonly<Record<string, string>>;
  /** Publishes as the service does, where it pushes to this gateway. False when that was not confirmed. */
  readonly publish: (body: string, gateway: string) => Promise<boolean>;
}

const queue = 'events';
const maxPlainBytes = 1024;

/** RabbitMQ with a durable queue. One gateway consumes it at a time, as docs/intake.md advises. */
export async function openRabbit(around: string): Promise<Broker> {
  const folder = join(around, 'rabbitmq');
  mkdirSync(folder);
  const server = await prepareRabbit(folder);
  await server.start();
  const connection = connectToRabbit(server.url);
  await connection.queueDeclare({ queue, durable: true, arguments: { 'x-single-active-consumer': true } });
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
