import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceClientConstructor,
  status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

/** A subscription of Pub/Sub on a port of its own: what Google's library asks of it over gRPC, without TLS. */
export interface PubSubServer extends AsyncDisposable {
  /** For PUBSUB_EMULATOR_HOST. */
  readonly host: string;
  readonly subscription: string;
  readonly publish: (key: string, data: Buffer, attributes: Readonly<Record<string, string>>) => void;
  /** Messages that are not acknowledged. */
  readonly waiting: () => number;
  /** The most messages that were in the client's hands at once. */
  readonly mostInHand: () => number;
  /** Ends every stream, as Pub/Sub does from time to time. */
  readonly disconnect: () => void;
  /** How many messages were sent again. */
  readonly repeats: () => number;
}

interface Stored {
  readonly id: string;
  readonly key: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  deliveries: number;
}

interface PullRequest {
  readonly maxOutstandingMessages?: number | string;
}
type Stream = ServerDuplexStream<PullRequest, object>;
interface Acknowledgement {
  readonly request: { readonly ackIds: readonly string[]; readonly ackDeadlineSeconds?: number };
}
type Answer = (error: null, response: object) => void;

const subscription = 'projects/lab/subscriptions/events';

class Subscription {
  readonly #waiting: Stored[] = [];
  readonly #inHand = new Map<string, Stored>();
  readonly #streams = new Map<Stream, number>();
  #made = 0;
  mostInHand = 0;
  repeats = 0;

  get waiting(): number {
    return this.#waiting.length + this.#inHand.size;
  }

  publish(key: string, data: Buffer, attributes: Stored['attributes']): void {
    this.#made += 1;
    this.#waiting.push({ id: String(this.#made), key, data, attributes, deliveries: 0 });
    this.#feed();
  }

  open(stream: Stream): void {
    stream.on('data', ({ maxOutstandingMessages = 0 }: PullRequest) => {
      if (this.#streams.has(stream)) return;
      this.#streams.set(stream, Number(maxOutstandingMessages));
      this.#feed();
    });
    const close = () => {
      if (!this.#streams.delete(stream)) return;
      this.return([...this.#inHand.keys()]);
    };
    stream.on('cancelled', close).on('error', close);
    stream.on('end', () => {
      close();
      stream.end();
    });
  }

  disconnect(): void {
    for (const stream of this.#streams.keys())
      stream.emit('error', { code: status.UNAVAILABLE, details: 'The server ends the stream.' });
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) this.#inHand.delete(id);
    this.#feed();
  }

  /** They are sent again in their order, as with an ordering key. */
  return(ids: readonly string[]): void {
    const returned = ids.flatMap((id) => this.#inHand.get(id) ?? []);
    for (const { id } of returned) this.#inHand.delete(id);
    this.#waiting.unshift(...returned);
    this.#waiting.sort((a, b) => Number(a.id) - Number(b.id));
    this.#feed();
  }

  #feed(): void {
    const [stream, most] = [...this.#streams].at(-1) ?? [];
    if (stream === undefined || most === undefined) return;
    while (this.#inHand.size < most) {
      const message = this.#waiting.shift();
      if (message === undefined) return;
      message.deliveries += 1;
      if (message.deliveries > 1) this.repeats += 1;
      this.#inHand.set(message.id, message);
      this.mostInHand = Math.max(this.mostInHand, this.#inHand.size);
      const { id, key, data, attributes } = message;
      stream.write({
        subscriptionProperties: { exactlyOnceDeliveryEnabled: true, messageOrderingEnabled: true },
        receivedMessages: [
          { ackId: id, message: { messageId: id, orderingKey: key, data, attributes }, deliveryAttempt: 1 },
        ],
      });
    }
  }
}

/** The protocol as Google's library carries it. */
function loadService() {
  const { resolve } = createRequire(import.meta.url);
  const path = resolve('@google-cloud/pubsub/build/protos/protos.json');
  const loaded = loadPackageDefinition(fromJSON(JSON.parse(readFileSync(path, 'utf8')), { longs: String }));
  // Packages and services are nested by the parts of their names.
  const find = (name: string): unknown =>
    name.split('.').reduce<unknown>((found, part) => Reflect.get(Object(found), part), loaded);
  const isService = (found: unknown): found is ServiceClientConstructor => typeof found === 'function';
  const service = find('google.pubsub.v1.Subscriber');
  if (!isService(service)) throw new Error('The library carries no protocol.');
  return service.service;
}

export async function startPubSub(): Promise<PubSubServer> {
  const stored = new Subscription();
  const server = new Server();
  server.addService(loadService(), {
    streamingPull: (stream: Stream) => stored.open(stream),
    acknowledge: ({ request }: Acknowledgement, answer: Answer) => {
      stored.acknowledge(request.ackIds);
      answer(null, {});
    },
    modifyAckDeadline: ({ request }: Acknowledgement, answer: Answer) => {
      if (request.ackDeadlineSeconds === 0) stored.return(request.ackIds);
      answer(null, {});
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  const port = await promise;
  return {
    host: `127.0.0.1:${port}`,
    subscription,
    publish: (key, data, attributes) => stored.publish(key, data, attributes),
    waiting: () => stored.waiting,
    mostInHand: () => stored.mostInHand,
    repeats: () => stored.repeats,
    disconnect: () => stored.disconnect(),
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}
