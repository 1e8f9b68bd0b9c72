import { describe, expect, test } from 'vitest';
import { type Environment, faultsOf, read } from '../../support/configuration.ts';

const hubConnection = 'Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=Yg==';

describe('the configuration of the intake', () => {
  test.each<[string, Environment, object]>([
    [
      'a queue of RabbitMQ',
      { INTAKE_RABBITMQ_URL: 'amqps://user:password@broker:5671/lab', INTAKE_RABBITMQ_QUEUE: 'events' },
      {
        intake: {
          rabbitmq: { url: 'amqps://user:password@broker:5671/lab', queue: 'events', prefetch: 500 },
          pubsub: null,
          pull: null,
          eventHubs: null,
        },
      },
    ],
    [
      'a pull subscription',
      { INTAKE_PUBSUB_SUBSCRIPTION: 'projects/p/subscriptions/s' },
      { intake: { pull: { subscription: 'projects/p/subscriptions/s' } } },
    ],
    [
      'an event hub that the connection string names',
      { INTAKE_EVENTHUBS_CONNECTION_STRING: `${hubConnection};EntityPath=events` },
      { intake: { eventHubs: { hub: 'events', consumerGroup: '$Default' } } },
    ],
  ])('takes %s', (_name, env, expected) => {
    expect(read(env)).toMatchObject(expected);
  });

  const faults: readonly [Environment, string][] = [
    [{ INTAKE_RABBITMQ_QUEUE: 'events' }, 'INTAKE_RABBITMQ_QUEUE needs INTAKE_RABBITMQ_URL.'],
    [{ INTAKE_RABBITMQ_URL: 'amqps://broker/lab' }, 'INTAKE_RABBITMQ_URL needs INTAKE_RABBITMQ_QUEUE.'],
    ...['https://user:password@broker/lab', 'user:password@broker'].map((url): [Environment, string] => [
      { INTAKE_RABBITMQ_URL: url, INTAKE_RABBITMQ_QUEUE: 'events' },
      'INTAKE_RABBITMQ_URL must be amqp://user:password@host:port/vhost, or amqps://.',
    ]),
    [
      { INTAKE_PUBSUB_SERVICE_ACCOUNT: 'push@project.iam.gserviceaccount.com' },
      'INTAKE_PUBSUB_SERVICE_ACCOUNT needs INTAKE_PUBSUB_AUDIENCE.',
    ],
    [{ INTAKE_PUBSUB_AUDIENCE: 'labgraph' }, 'INTAKE_PUBSUB_AUDIENCE needs INTAKE_PUBSUB_SERVICE_ACCOUNT.'],
    [
      {
        INTAKE_PUBSUB_AUDIENCE: 'labgraph',
        INTAKE_PUBSUB_SERVICE_ACCOUNT: 'push@project.iam.gserviceaccount.com',
        INTAKE_PUBSUB_JWKS_URL: 'http://keys.example.com/certs',
      },
      'INTAKE_PUBSUB_JWKS_URL must be an https address: who can change the keys can be anybody.',
    ],
    [
      { INTAKE_PUBSUB_SUBSCRIPTION: 'events' },
      'INTAKE_PUBSUB_SUBSCRIPTION must be projects/<project>/subscriptions/<name>.',
    ],
    [
      { INTAKE_EVENTHUBS_HUB: 'events' },
      'INTAKE_EVENTHUBS_HUB and INTAKE_EVENTHUBS_CONSUMER_GROUP need INTAKE_EVENTHUBS_CONNECTION_STRING.',
    ],
    [
      { INTAKE_EVENTHUBS_CONNECTION_STRING: hubConnection },
      'INTAKE_EVENTHUBS_CONNECTION_STRING needs an EntityPath, or INTAKE_EVENTHUBS_HUB.',
    ],
    [
      { INTAKE_EVENTHUBS_CONNECTION_STRING: 'Endpoint=sb://n;EntityPath=events' },
      'INTAKE_EVENTHUBS_CONNECTION_STRING must have an Endpoint (sb://), a SharedAccessKeyName and a SharedAccessKey.',
    ],
    [
      {
        INTAKE_EVENTHUBS_CONNECTION_STRING: `${hubConnection};EntityPath=e;UseDevelopmentEmulator=true`,
      },
      'INTAKE_EVENTHUBS_CONNECTION_STRING must not say UseDevelopmentEmulator: it sends events and keys without TLS.',
    ],
  ];

  test.each(faults)('a fault in %j is named', (env, fault) => {
    expect(faultsOf(env)).toEqual([fault]);
  });
});
