import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { compareSecrets } from '../../gateway/config/changed-secrets.ts';
import { readConfig } from '../../gateway/config/config.ts';
import { complete, savedSecrets, secretText, webhookSecret } from '../support/configuration.ts';

const keyText = () => randomBytes(32).toString('base64');

/** A gateway with a value for each secret, another one at each call. */
const makeEnvironment = () => ({
  ...complete,
  SERVICE_API_KEY: secretText(),
  WEBHOOK_SECRETS: webhookSecret(),
  GATEWAY_API_KEYS: secretText(),
  SERVICE_MANAGEMENT_URL: 'https://management.example.com',
  SERVICE_MANAGEMENT_KEY: secretText(),
  MANAGEMENT_API_KEYS: secretText(),
  VIEWER_TOKEN_SECRET: secretText(),
  EVENT_LOG: `redis://user:${secretText()}@host`,
  EVENT_LOG_KEY: keyText(),
  AUDIT_TRAIL_KEY: keyText(),
  INTAKE_RABBITMQ_URL: `amqps://user:${secretText()}@broker/lab`,
  INTAKE_RABBITMQ_QUEUE: 'events',
  INTAKE_EVENTHUBS_CONNECTION_STRING: `Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=${secretText()};EntityPath=events`,
});

test('every setting that a file may hold is named when its value changes', () => {
  const asked = new Set<string>();
  const env = new Proxy<Record<string, string>>(makeEnvironment(), {
    get(target, name) {
      asked.add(String(name));
      return Reflect.get(target, name);
    },
  });
  const changes = compareSecrets(
    readConfig(env, () => savedSecrets),
    readConfig(makeEnvironment(), () => savedSecrets),
  );
  const inFiles = [...asked].filter((name) => asked.has(`${name}_FILE`) && name !== 'PERSISTED_OPERATIONS');
  expect(changes.map(({ setting }) => setting).toSorted()).toEqual(inFiles.toSorted());
});
