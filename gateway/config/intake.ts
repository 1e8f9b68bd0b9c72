import { isKeyAddress } from './auth.ts';
import type { Reading } from './reading.ts';

/** Where events come from besides webhooks; null where webhooks are the only route. */
export function readIntake(reading: Reading) {
  const intake = {
    rabbitmq: readRabbit(reading),
    pubsub: readPubSub(reading),
    pull: readPull(reading),
    eventHubs: readEventHubs(reading),
  };
  return Object.values(intake).every((route) => route === null) ? null : intake;
}

function readRabbit(reading: Reading) {
  const url = reading.secret('INTAKE_RABBITMQ_URL');
  const queue = reading.text('INTAKE_RABBITMQ_QUEUE');
  const prefetch = reading.integer('INTAKE_RABBITMQ_PREFETCH', 500, { min: 1, max: 1000 });
  if (url === null && queue === null) return null;
  if (url === null) reading.fault('INTAKE_RABBITMQ_QUEUE needs INTAKE_RABBITMQ_URL.');
  else if (!URL.canParse(url) || !/^amqps?:$/.test(new URL(url).protocol))
    reading.fault('INTAKE_RABBITMQ_URL must be amqp://user:password@host:port/vhost, or amqps://.');
  if (queue === null) reading.fault('INTAKE_RABBITMQ_URL needs INTAKE_RABBITMQ_QUEUE.');
  return { url: url ?? '', queue: queue ?? '', prefetch };
}

const googleKeys = 'https://www.googleapis.com/oauth2/v3/certs';

function readPubSub(reading: Reading) {
  const audience = reading.text('INTAKE_PUBSUB_AUDIENCE');
  const serviceAccount = reading.text('INTAKE_PUBSUB_SERVICE_ACCOUNT');
  const jwksUrl = reading.text('INTAKE_PUBSUB_JWKS_URL') ?? googleKeys;
  if (audience === null && serviceAccount === null) return null;
  if (audience === null) reading.fault('INTAKE_PUBSUB_SERVICE_ACCOUNT needs INTAKE_PUBSUB_AUDIENCE.');
  if (serviceAccount === null) reading.fault('INTAKE_PUBSUB_AUDIENCE needs INTAKE_PUBSUB_SERVICE_ACCOUNT.');
  if (!isKeyAddress(jwksUrl, reading.production))
    reading.fault('INTAKE_PUBSUB_JWKS_URL must be an https address: who can change the keys can be anybody.');
  return { audience: audience ?? '', serviceAccount: serviceAccount ?? '', jwksUrl };
}

function readPull(reading: Reading) {
  const subscription = reading.text('INTAKE_PUBSUB_SUBSCRIPTION');
  if (subscription === null) return null;
  if (!/^projects\/[^/]+\/subscriptions\/[^/]+$/.test(subscription))
    reading.fault('INTAKE_PUBSUB_SUBSCRIPTION must be projects/<project>/subscriptions/<name>.');
  return { subscription };
}

function readEventHubs(reading: Reading) {
  const name = 'INTAKE_EVENTHUBS_CONNECTION_STRING';
  const connectionString = reading.secret(name);
  const named = reading.text('INTAKE_EVENTHUBS_HUB');
  const consumerGroup = reading.text('INTAKE_EVENTHUBS_CONSUMER_GROUP');
  if (connectionString === null) {
    if (named !== null || consumerGroup !== null)
      reading.fault(`INTAKE_EVENTHUBS_HUB and INTAKE_EVENTHUBS_CONSUMER_GROUP need ${name}.`);
    return null;
  }
  const parts = new Map(
    connectionString.split(';').map((part): [string, string] => {
      const [key = '', ...value] = part.split('=');
      return [key.trim(), value.join('=')];
    }),
  );
  const isWhole = ['SharedAccessKeyName', 'SharedAccessKey'].every((key) => parts.get(key));
  if (!isWhole || !/^sb:\/\/[^/]+/.test(parts.get('Endpoint') ?? ''))
    reading.fault(`${name} must have an Endpoint (sb://), a SharedAccessKeyName and a SharedAccessKey.`);
  if (reading.production && parts.get('UseDevelopmentEmulator') === 'true')
    reading.fault(`${name} must not say UseDevelopmentEmulator: it sends events and keys without TLS.`);
  const hub = named ?? parts.get('EntityPath') ?? '';
  if (hub === '') reading.fault(`${name} needs an EntityPath, or INTAKE_EVENTHUBS_HUB.`);
  return { connectionString, hub, consumerGroup: consumerGroup ?? '$Default' };
}
