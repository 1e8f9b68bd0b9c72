import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { EventHubProducerClient } from '@azure/event-hubs';
import type { OutgoingMessage } from '../world/state.ts';
import type { BrokerDestination } from './rabbitmq.ts';

/** Whether an address is `eventhubs://policy:key@namespace/hub`; with `?emulator=true` it is sent to without TLS. */
export function isEventHubsAddress(url: string): boolean {
  return url.startsWith('eventhubs:');
}

/** Larger messages are compressed (public service: `auto`). */
const maxPlainBytes = 1024;
const retryOptions = { maxRetries: 0, timeoutInMs: 5000 };

/** @throws Error without a part of the address, which has a key */
function readAddress(address: string) {
  const url = new URL(address);
  const [policy, key, hub] = [url.username, url.password, url.pathname.slice(1)].map(decodePart);
  if (!policy || !key || !hub || !url.host)
    throw new Error(
      'The address of an event hub must be eventhubs://policy:key@namespace/hub, percent-encoded.',
    );
  const isEmulator = url.searchParams.get('emulator') === 'true';
  const connectionString = [
    `Endpoint=sb://${url.host}`,
    `SharedAccessKeyName=${policy}`,
    `SharedAccessKey=${key}`,
    ...(isEmulator ? ['UseDevelopmentEmulator=true'] : []),
  ].join(';');
  return { connectionString, hub };
}

/** Null for a text that is not percent-encoded. */
function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * As the service sends: the partition key is the user, and the properties say what the event is.
 * @throws Error for an address that names no hub
 */
export function createEventHubsDestination(address: string): BrokerDestination {
  const { connectionString, hub } = readAddress(address);
  let opening: Promise<EventHubProducerClient> | null = null;
  const open = async () => {
    const { EventHubProducerClient: Producer } = await import('@azure/event-hubs');
    return new Producer(connectionString, hub, { retryOptions });
  };
  return {
    publish: async ({ eventType, body }: OutgoingMessage) => {
      opening ??= open();
      const plain = Buffer.from(body);
      const isLarge = plain.length > maxPlainBytes;
      const { user_id, team_id }: { readonly user_id?: string; readonly team_id?: string } = JSON.parse(body);
      const properties = {
        'event-type': eventType,
        ...(user_id === undefined ? {} : { 'user-id': user_id }),
        ...(team_id === undefined ? {} : { 'team-id': team_id }),
        ...(isLarge ? { 'content-encoding': 'gzip' } : {}),
        'idempotency-key': hash('sha256', body).slice(0, 32),
      };
      const event = { body: isLarge ? gzipSync(plain) : plain, properties };
      const producer = await opening;
      await producer.sendBatch([event], user_id === undefined ? {} : { partitionKey: user_id });
      return true;
    },
    close: async () => {
      await opening?.then((producer) => producer.close()).catch(() => undefined);
    },
  };
}
