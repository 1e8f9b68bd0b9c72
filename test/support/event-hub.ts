import { once } from 'node:events';
import rhea from 'rhea';

/** An event hub on a port of its own: what Azure's library asks of it over AMQP 1.0, without TLS. */
export interface EventHub extends AsyncDisposable {
  /** With a key. */
  readonly connectionString: string;
  readonly address: string;
  readonly name: string;
  /** Puts an event at the end of the partition of its key. */
  readonly publish: (key: string, body: Buffer, properties?: Readonly<Record<string, string>>) => void;
  /** Everything that was sent to it, by partition. */
  readonly partitions: readonly (readonly HubEvent[])[];
  /** How many links have read a partition so far. */
  readonly opened: () => number;
  /** How many links read a partition now. */
  readonly readers: () => number;
  /** Ends every connection. */
  readonly disconnect: () => void;
}

export interface HubEvent {
  readonly key: string;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Reader {
  readonly link: rhea.Sender;
  readonly partition: number;
  next: number;
}

const name = 'events';
export const hubKey = 'canary-hub-key';

function partitionOf(key: string, count: number): number {
  return [...key].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % count;
}

/** A link reads on after a position: `amqp.annotation.x-opt-offset > '7'`. */
function firstOf(link: rhea.Sender): number {
  const filter: unknown = link.source.filter;
  const after = /(?:offset|sequence-number) >(=?) '(-?\d+)'/.exec(JSON.stringify(filter));
  return Number(after?.[2] ?? -1) + (after?.[1] === '=' ? 0 : 1);
}

class Hub {
  readonly partitions: HubEvent[][];
  readonly readers = new Set<Reader>();
  opened = 0;
  readonly connections = new Set<rhea.Connection>();
  /** Links for the answers of `$cbs` and `$management`. */
  readonly #replies = new Map<string, rhea.Sender>();

  constructor(partitionCount: number) {
    this.partitions = Array.from({ length: partitionCount }, () => []);
  }

  add(event: HubEvent): void {
    this.partitions[partitionOf(event.key, this.partitions.length)]?.push(event);
    for (const reader of this.readers) this.feed(reader);
  }

  feed(reader: Reader): void {
    const events = this.partitions[reader.partition] ?? [];
    for (; reader.link.sendable(); reader.next += 1) {
      const event = events[reader.next];
      if (event === undefined) return;
      reader.link.send({
        body: rhea.message.data_section(event.body),
        application_properties: { ...event.properties },
        message_annotations: {
          'x-opt-sequence-number': reader.next,
          'x-opt-offset': String(reader.next),
          'x-opt-enqueued-time': rhea.types.wrap_timestamp(Date.now()),
          'x-opt-partition-key': event.key,
        },
        delivery_annotations: { last_enqueued_sequence_number: events.length - 1 },
      });
    }
  }

  /** A batch of encoded events with the same key: its data sections are events. */
  take({ message }: rhea.EventContext): void {
    if (!Buffer.isBuffer(message)) throw new Error('Only batches are taken.');
    const batch = rhea.message.decode(message);
    const key = String(batch.message_annotations?.['x-opt-partition-key'] ?? '');
    for (const section of [batch.body.content].flat()) {
      const { body, application_properties: properties = {} } = rhea.message.decode(section);
      this.add({ key, body: body.content, properties });
    }
  }

  answer({ message, receiver, connection }: rhea.EventContext): void {
    const address = String(receiver?.target.address);
    const { message_id: id, reply_to: to } = message ?? {};
    if (id === undefined || to === undefined) return;
    const partitionIds = this.partitions.map((_, index) => String(index));
    this.#replies.get(`${connection.container_id} ${address}`)?.send({
      ...{ to, correlation_id: id },
      application_properties: { 'status-code': 200, 'status-description': 'OK' },
      body: address === '$cbs' ? '' : { name, created_at: new Date(), partition_ids: partitionIds },
    });
  }

  openSender(sender: rhea.Sender): void {
    const address = String(sender.source.address);
    sender.set_source({ address });
    const partition = /\/Partitions\/(\d+)$/.exec(address)?.[1];
    if (partition === undefined) {
      this.#replies.set(`${sender.connection.container_id} ${address}`, sender);
      return;
    }
    // The library reads as the only one: an earlier link is cut.
    for (const other of this.readers) {
      if (other.partition !== Number(partition)) continue;
      other.link.close({ condition: 'amqp:link:stolen', description: 'A new receiver was created.' });
      this.readers.delete(other);
    }
    this.opened += 1;
    this.readers.add({ link: sender, partition: Number(partition), next: firstOf(sender) });
  }

  readersOf(link: rhea.Sender | undefined): readonly Reader[] {
    return [...this.readers].filter((reader) => reader.link === link);
  }

  forget(connection: rhea.Connection): void {
    this.connections.delete(connection);
    for (const reader of this.readers) if (reader.link.connection === connection) this.readers.delete(reader);
  }

  disconnect(): void {
    for (const connection of this.connections) Reflect.get(connection, 'socket')?.destroy();
  }
}

export async function startEventHub({ partitionCount = 2 } = {}): Promise<EventHub> {
  const hub = new Hub(partitionCount);
  const container = rhea.create_container();
  container.sasl_server_mechanisms.enable_anonymous();
  container.on('connection_open', ({ connection }) => hub.connections.add(connection));
  container.on('disconnected', ({ connection }) => hub.forget(connection));
  container.on('receiver_open', ({ receiver }) => receiver.set_target({ address: receiver.target.address }));
  container.on('sender_open', ({ sender }) => hub.openSender(sender));
  container.on('sender_close', ({ sender }) => {
    for (const reader of hub.readersOf(sender)) hub.readers.delete(reader);
  });
  container.on('sendable', ({ sender }) => {
    for (const reader of hub.readersOf(sender)) hub.feed(reader);
  });
  container.on('message', (context: rhea.EventContext) => {
    if (String(context.receiver?.target.address).includes('$')) hub.answer(context);
    else hub.take(context);
  });
  const server = container.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    name,
    connectionString: `Endpoint=sb://${host};SharedAccessKeyName=listen;SharedAccessKey=${hubKey};UseDevelopmentEmulator=true`,
    address: `eventhubs://send:${hubKey}@${host}/${name}?emulator=true`,
    publish: (key, body, properties = {}) => hub.add({ key, body, properties }),
    partitions: hub.partitions,
    opened: () => hub.opened,
    readers: () => hub.readers.size,
    disconnect: () => hub.disconnect(),
    [Symbol.asyncDispose]: async () => {
      hub.disconnect();
      server.close();
    },
  };
}
