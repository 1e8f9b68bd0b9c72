import process from 'node:process';
import { request } from 'undici';
import { type Config, readConfig } from '../../gateway/config/config.ts';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { makeFolder } from './folder.ts';

export const gatewayKey = 'test-gateway-key';
export const serviceKey = 'canary-service-key-4f1d9a';
export const webhookSecret = `whsec_${Buffer.from('a webhook secret of thirty-two b').toString('base64')}`;

/** A gateway over a sandbox, both in this process and on real ports. */
export interface Lab {
  readonly gateway: Gateway;
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly serviceUrl: string;
  /** Every line the gateway has logged. */
  readonly logged: readonly string[];
  /** Runs an operation as a server of the team, unless a token is given. */
  readonly query: (query: string, options?: QueryOptions) => Promise<GraphQLAnswer>;
  /** A viewer token for a user, with the widget's scopes unless others are given. */
  readonly tokenFor: (userId: string, more?: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export interface QueryOptions {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly token?: string;
  /** Of the page that asks. */
  readonly origin?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
export type GraphQLAnswer = { data?: any; errors?: any[]; status: number };

/** For tests that change the service behind the gateway's back, or count calls of queries that are asked twice. */
export const readAnew = { READ_CACHE_SECONDS: '0' } as const;

export interface LabOptions {
  /** Where the gateway stores events: in memory where left out; tests of delivery take a real SQLite file. */
  readonly eventLog?: 'sqlite' | 'memory';
  /** A management graph over the sandbox's management interface, for this key. */
  readonly managementCaller?: string;
  /** Environment variables on top of the test's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** How many times faster than real time the sandbox retries webhooks. */
  readonly speed?: number;
  /** Serves the sandbox, which listens at `url`, in another way; returns the address for the gateway. */
  readonly serve?: (sandbox: Sandbox, url: string) => Promise<string>;
  /** For how long the text of `/metrics` is served again; not at all where left out. */
  readonly metricsCacheMs?: number;
  /** Makes the gateway: ours where left out. */
  readonly make?: typeof createGateway;
}

export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const folder = options.eventLog === 'sqlite' ? makeFolder() : null;
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: options.speed ?? 1000 });
  const { url: serviceUrl } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const logged: string[] = [];
  const config = readTestConfig({
    SERVICE_URL: serviceUrl,
    EVENT_LOG: folder === null ? 'memory:' : `sqlite:${folder.file('events.db')}`,
    PORTAL_ORIGINS: serviceUrl,
    ...(options.managementCaller === undefined
      ? {}
      : {
          SERVICE_MANAGEMENT_URL: sandbox.managementUrl,
          SERVICE_MANAGEMENT_KEY: sandbox.managementKey,
          SERVICE_ORG_ID: sandbox.orgId,
          MANAGEMENT_API_KEYS: `ops=${options.managementCaller}`,
        }),
    ...options.env,
  });
  const log = createLog({ level: 'debug', destination: { write: (line) => void logged.push(line) } });
  const gateway = await (options.make ?? createGateway)({
    config,
    log,
    // Tests count before and after.
    metricsCacheMs: options.metricsCacheMs ?? 0,
    serviceUrl: (await options.serve?.(sandbox, serviceUrl)) ?? serviceUrl,
  });
  const { url } = await gateway.listen();
  sandbox.webhooks.register(`${url}/webhooks`);

  const query: Lab['query'] = async (text, { variables, token = gatewayKey, origin } = {}) => {
    // By undici, because `fetch` costs its caller more processor time than the gateway takes for a small answer.
    const { statusCode, body } = await request(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: '*/*',
        authorization: `Bearer ${token}`,
        ...(origin === undefined ? {} : { origin }),
      },
      body: JSON.stringify({ query: text, variables }),
    });
    const answer: object = JSON.parse(await body.text());
    return { ...answer, status: statusCode };
  };
  return {
    gateway,
    sandbox,
    url,
    serviceUrl,
    logged,
    query,
    tokenFor: async (userId, more = {}) => {
      const answer = await query(
        'mutation ($input: CreateViewerTokenInput!) { createViewerToken(input: $input) { token } }',
        { variables: { input: { userId, ...more } } },
      );
      return answer.data.createViewerToken.token;
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await sandbox.close();
      folder?.[Symbol.dispose]();
    },
  };
}

/** A configuration with every secret given, so that nothing is generated. */
export function readTestConfig(env: Readonly<Record<string, string>>): Config {
  return readConfig(
    {
      PORT: '0',
      SERVICE_API_KEY: serviceKey,
      WEBHOOK_SECRETS: webhookSecret,
      GATEWAY_API_KEYS: gatewayKey,
      VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
      // Tests count calls; those of reconciliation turn it on.
      RECONCILE_MINUTES: '0',
      // The whole suite can be run the other way: DIRECT_PATH=off npm test.
      DIRECT_PATH: process.env.DIRECT_PATH ?? 'on',
      ...env,
    },
    () => {
      throw new Error('A test gives every secret.');
    },
  );
}

export function graphqlRequest(url: string, body: unknown, token: string): Request {
  return new Request(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}
