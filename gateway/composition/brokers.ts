import { GatewayError } from '../errors.ts';
import type { Broker } from '../intake/intake.ts';
import type { Core } from './core.ts';

/**
 * Opens every broker that is configured, and loads the library of no other.
 * @throws GatewayError CONFIG_INVALID where its library is not installed
 */
export async function openBrokers({ config, log, store }: Core): Promise<readonly Broker[]> {
  const { rabbitmq = null, pull = null, eventHubs = null } = config.intake ?? {};
  const brokers: Broker[] = [];
  if (rabbitmq !== null) {
    const { createRabbitBroker } = await import('../intake/rabbitmq.ts').catch(
      refuse('INTAKE_RABBITMQ_URL', 'rabbitmq-client'),
    );
    brokers.push(createRabbitBroker({ ...rabbitmq, log }));
  }
  if (pull !== null) {
    const { createPullBroker } = await import('../intake/pubsub-pull.ts').catch(
      refuse('INTAKE_PUBSUB_SUBSCRIPTION', '@google-cloud/pubsub'),
    );
    brokers.push(createPullBroker({ ...pull, log }));
  }
  if (eventHubs !== null) {
    const { createEventHubsBroker } = await import('../intake/event-hubs.ts').catch(
      refuse('INTAKE_EVENTHUBS_CONNECTION_STRING', '@azure/event-hubs'),
    );
    const isShared = config.eventLog.kind === 'redis';
    brokers.push(createEventHubsBroker({ ...eventHubs, marks: store.log, isShared, log }));
  }
  return brokers;
}

function refuse(setting: string, library: string) {
  return (cause: unknown): never => {
    const message = `- ${setting} needs the optional package ${library}, which is not installed.`;
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  };
}
