import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { startLab } from '../../support/lab.ts';

const secrets = {
  password: 'canary-broker-password',
  key: Buffer.from('a canary key of Event Hubs, 32 b').toString('base64'),
  token: `${Buffer.from('{"alg":"RS256","kid":"canary"}').toString('base64url')}.e30.canary-signature`,
};

/** A broker that hangs up, or one that repeats what it was sent. */
async function startBroker(answers: (server: Server) => void): Promise<number> {
  const server = createServer();
  answers(server);
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The broker has no port.');
  return address.port;
}

const brokers = {
  'hangs up': (server: Server) => server.on('connection', (socket) => socket.destroy()),
  'repeats what it refuses': (server: Server) =>
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.once('data', (sent) => socket.end(`no: ${sent}`));
    }),
};

test.concurrent.each(Object.keys(brokers) as (keyof typeof brokers)[])(
  'With a broker that %s no password, key or token of a broker is in a log line, a metric, an answer, the audit trail or the event log',
  async (name) => {
    const port = await startBroker(brokers[name]);
    using folder = makeFolder();
    const env = {
      EVENT_LOG: `sqlite:${folder.file('events.db')}`,
      AUDIT_TRAIL: `file:${folder.file('audit')}`,
      AUDIT_TRAIL_KEY: randomBytes(32).toString('base64'),
      INTAKE_RABBITMQ_URL: `amqp://canary:${secrets.password}@127.0.0.1:${port}`,
      INTAKE_RABBITMQ_QUEUE: 'events',
      INTAKE_EVENTHUBS_CONNECTION_STRING: `Endpoint=sb://localhost:${port};SharedAccessKeyName=listen;SharedAccessKey=${secrets.key};EntityPath=events;UseDevelopmentEmulator=true`,
      INTAKE_PUBSUB_AUDIENCE: 'https://labs.example/intake/pubsub',
      INTAKE_PUBSUB_SERVICE_ACCOUNT: 'push@project.iam.gserviceaccount.com',
    };
    const said: string[] = [];
    {
      await using lab = await startLab({ env });
      const away = () => lab.logged.filter((line) => line.includes('broker.unavailable'));
      await expect.poll(() => away().some((line) => line.includes('rabbitmq'))).toBe(true);
      await expect.poll(() => away().some((line) => line.includes('event-hubs'))).toBe(true);
      for (const path of ['/intake/pubsub', '/ready', '/metrics']) {
        const { body } = await request(`${lab.url}${path}`, {
          method: path === '/intake/pubsub' ? 'POST' : 'GET',
          headers: { authorization: `Bearer ${secrets.token}` },
        });
        said.push(await body.text());
      }
      await lab.gateway.close();
      said.push(...lab.logged);
    }
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    said.push(...files.map((each) => readFileSync(`${each.parentPath}/${each.name}`, 'latin1')));
    const found = Object.entries(secrets).filter(([, secret]) => said.join('\n').includes(secret));
    expect(found).toEqual([]);
  },
);
