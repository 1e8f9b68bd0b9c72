import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, type Gateway } from '../../../gateway/gateway.ts';
import { createLog } from '../../../gateway/log.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import { gatewayKey, graphqlRequest, readTestConfig, serviceKey, webhookSecret } from '../../support/lab.ts';
import { type Host, type HostPage, startHost, type ViewerToken } from './host.ts';

type Order = ReturnType<Sandbox['orders']>[number];

/** One opening of a portal page, as the service saw it. */
export interface PortalVisit {
  readonly path: string;
  readonly referer: string | null;
  readonly secFetchSite: string | null;
}

/** The service, the gateway and a host page's server: three origins, all real. */
export interface Embedding {
  readonly sandbox: Sandbox;
  readonly serviceUrl: string;
  readonly gatewayUrl: string;
  readonly host: Host;
  readonly mintToken: (
    userId: string,
    more?: { readonly ttlSeconds?: number; readonly scopes?: readonly string[] },
  ) => Promise<ViewerToken>;
  /** The first order with this status. */
  readonly findOrder: (status: string) => Order;
  /** Moves an order one step on and waits until the gateway has the event. */
  readonly advance: (orderId: string) => Promise<void>;
  /** Moves an order one step on, and does not wait until the gateway is notified. */
  readonly advanceUnreported: (orderId: string) => Promise<void>;
  /** Every line the gateway has logged. */
  readonly logged: readonly string[];
  readonly readPortalVisits: () => Promise<readonly PortalVisit[]>;
  readonly stopGateway: () => Promise<void>;
  /** Starts the gateway again: same port, same event log. */
  readonly startGateway: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** The life of a walk-in order, in the gateway's labels. */
export const walkInLabels = [
  'Ordered',
  'Requisition created',
  'Appointment pending',
  'Appointment scheduled',
  'Some results ready',
  'Results ready',
];

export async function startEmbedding(): Promise<Embedding> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-e2e-'));
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  const { url: serviceUrl } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const gateway = createRestartable(serviceUrl, join(folder, 'events.db'));
  const host = await startHost(() => gateway.url);
  const startGateway = () => gateway.start(host.origin);
  await startGateway();
  sandbox.webhooks.register(`${gateway.url}/webhooks`);

  const advanceUnreported = async (orderId: string): Promise<void> => {
    await askService(`${serviceUrl}/v3/order/${orderId}/test`, 'POST');
  };
  return {
    sandbox,
    serviceUrl,
    gatewayUrl: gateway.url,
    host,
    mintToken: (userId, more = {}) => mintToken(gateway.url, { userId, ...more }),
    findOrder: (status) => findOrder(sandbox, status),
    logged: gateway.logged,
    advanceUnreported,
    advance: async (orderId) => {
      await advanceUnreported(orderId);
      await sandbox.webhooks.settled();
    },
    readPortalVisits: async () => (await askService(`${serviceUrl}/portal-visits`, 'GET')).json(),
    startGateway,
    stopGateway: gateway.stop,
    [Symbol.asyncDispose]: async () => {
      await host.close();
      await gateway.stop();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A gateway that comes back at the port it had first, with the event log it left. */
function createRestartable(serviceUrl: string, eventLogPath: string) {
  let gateway: Gateway | null = null;
  let url = '';
  const logged: string[] = [];
  return {
    logged,
    get url() {
      return url;
    },
    start: async (allowedOrigin: string): Promise<void> => {
      const config = readTestConfig({
        PORT: url ? new URL(url).port : '0',
        SERVICE_URL: serviceUrl,
        EVENT_LOG: `sqlite:${eventLogPath}`,
        PORTAL_ORIGINS: serviceUrl,
        ALLOWED_ORIGINS: allowedOrigin,
      });
      const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
      gateway = await createGateway({ config, log, serviceUrl });
      url = (await gateway.listen()).url;
    },
    stop: async (): Promise<void> => {
      await gateway?.close();
      gateway = null;
    },
  };
}

async function askService(url: string, method: 'GET' | 'POST'): Promise<Response> {
  const response = await fetch(url, { method, headers: { 'x-service-api-key': serviceKey } });
  if (!response.ok) throw new Error(`The sandbox answered ${response.status} to ${method} ${url}.`);
  return response;
}

function findOrder(sandbox: Sandbox, status: string): Order {
  const found = sandbox.orders().find((order) => order.status === status);
  if (!found) throw new Error(`The world has no order with the status ${status}.`);
  return found;
}

async function mintToken(gatewayUrl: string, input: Readonly<Record<string, unknown>>): Promise<ViewerToken> {
  const query = `mutation ($input: CreateViewerTokenInput!) {
    createViewerToken(input: $input) { token expiresAt } }`;
  const response = await fetch(graphqlRequest(gatewayUrl, { query, variables: { input } }, gatewayKey));
  return (await response.json()).data.createViewerToken;
}

/** A page with one launch button for an order, its user signed in; `more` changes what is said of it. */
export function launchPage(
  embedding: Embedding,
  order: { readonly orderId: string; readonly userId: string },
  more: Partial<HostPage> & {
    readonly status?: string;
    /** Further attributes of the element. */
    readonly attributes?: string;
    readonly inside?: string;
    readonly ttlSeconds?: number;
  } = {},
): HostPage {
  const { status = 'text', attributes = '', inside = '', ttlSeconds = 600, ...rest } = more;
  return {
    body: inGateway(
      embedding,
      `<portal-launch order-id="${order.orderId}" status="${status}" ${attributes}>${inside}</portal-launch>`,
    ),
    mintToken: () => embedding.mintToken(order.userId, { ttlSeconds }),
    ...rest,
  };
}

/** Markup inside the element that gives endpoint, portal and token to everything in it. */
export function inGateway({ gatewayUrl, serviceUrl }: Embedding, markup: string): string {
  return `<portal-gateway endpoint="${gatewayUrl}/graphql" portal-origins="${serviceUrl}">${markup}</portal-gateway>`;
}
