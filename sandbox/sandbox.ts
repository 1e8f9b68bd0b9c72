import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { createApp, managementPath } from './app.ts';
import { Faults } from './http/faults.ts';
import type { Plan } from './management/access.ts';
import { installRootKeys } from './management/state.ts';
import { currentStatus } from './orders/order.ts';
import type { CollectionMethod } from './orders/states.ts';
import type { SandboxEnv, Service } from './service.ts';
import { createSave, readState, type Save } from './state-file.ts';
import {
  type Announcer,
  createAnnouncer,
  type EventSubject,
  removeFromOutbox,
} from './webhooks/announcer.ts';
import { Endpoints } from './webhooks/endpoints.ts';
import { type SentMessage, type WebhookKnobs, WebhookSender } from './webhooks/sender.ts';
import { createClock } from './world/clock.ts';
import { createGrowth, type Growth } from './world/growth.ts';
import { createState, usualEndMs } from './world/new-state.ts';
import { nameOf } from './world/users.ts';
import { createWorld, latestTime, livingUsers, type World } from './world/world.ts';

/** Where to listen; port 0 takes any free port. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A server that listens, and the address it was given. */
interface Listening {
  readonly server: Server;
  readonly url: string;
}

/** Serves the app over HTTP; rejects when the address is taken. */
async function startServer(app: Hono<SandboxEnv>, { host, port }: ListenAddress): Promise<Listening> {
  // The global Request and Response belong to everyone in the process, so they are left as they are.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(listener).listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}` };
}

/** Stops listening and closes all connections. */
async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Settings of a sandbox. */
export interface SandboxOptions {
  /** Expected in the header `x-service-api-key`. */
  readonly apiKey: string;
  /** Expected in the header `X-Management-Key`, `mg_` first; generated where left out. */
  readonly managementKey?: string;
  /** Signs webhooks; `whsec_` and base64. */
  readonly webhookSecret: string;
  /** When given, the world and undelivered webhooks survive a restart and kill -9. */
  readonly stateFile?: string;
  /** How many times faster than real time retries and simulated delays run; 1 by default. */
  readonly speed?: number;
  /** Equal seeds make equal ids and names; 1 by default. A state file contains the seed of its first start. */
  readonly seed?: number;
  /** When the invented history ends, in epoch milliseconds; a fixed time by default. A state file has its own history. */
  readonly historyEndsAt?: number;
  /**
   * Where the numbers of a new world's messages and events begin; 0 by default. It must be larger than any number of an
   * earlier world, or a gateway takes the new messages for those that its log knows. A state file counts on.
   */
  readonly firstNumber?: number;
}

/** The outgoing side: receivers, faults, sent messages. */
interface Webhooks {
  /** Adds an address; adding it again changes nothing. */
  readonly register: (url: string) => void;
  /** Can be set at any time, for later messages and attempts. */
  readonly knobs: WebhookKnobs;
  /** Resolves when no message, retry or delayed simulation is in flight. */
  readonly settled: () => Promise<void>;
  /** One entry for each message, oldest first. */
  readonly sent: readonly SentMessage[];
  /** Sends an event of any type and returns its message id. */
  readonly send: (eventType: string, payload: unknown, subject: EventSubject) => string;
}

/** A user as tests and the demo need it. */
interface UserView {
  readonly userId: string;
  readonly clientUserId: string;
  readonly name: string;
  readonly hasDemographics: boolean;
}

/** An order as tests and the demo need it; the status is that of its last event. */
interface OrderView {
  readonly orderId: string;
  readonly userId: string;
  readonly method: CollectionMethod;
  readonly status: string;
}

/** A lab test as tests and the demo need it. */
interface LabTestView {
  readonly labTestId: string;
  readonly name: string;
  readonly method: CollectionMethod;
}

/** A small lab-testing service, as a value. */
export interface Sandbox {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Serves over HTTP; portal URLs then have this origin. Rejects when the address is taken. */
  readonly listen: (at: ListenAddress) => Promise<{ readonly url: string }>;
  /** Its routes but those of the management interface: `GET /orders`, `POST /v3/order/:order_id/cancel` and so on. */
  readonly routes: readonly string[];
  /** Those of the management interface: `GET /v1/org/:org_id/team` and so on. */
  readonly managementRoutes: readonly string[];
  /** `GET /orders?user_id=...` for each request to one of the service's interfaces, in order. */
  readonly calls: readonly string[];
  readonly clearCalls: () => void;
  /** Oldest first, as are orders; lab tests in the order of the catalogue. */
  readonly users: () => readonly UserView[];
  readonly orders: () => readonly OrderView[];
  readonly labTests: () => readonly LabTestView[];
  readonly teamId: string;
  /** The base of the management interface. @throws before `listen` */
  readonly managementUrl: string;
  readonly managementKey: string;
  readonly orgId: string;
  /** What the org's plan includes: everything, unless a test turns it off. */
  readonly plan: Plan;
  readonly faults: Faults;
  readonly growth: Growth;
  readonly webhooks: Webhooks;
  /** Stops timers and server; undelivered messages are stored in the state file. */
  readonly close: () => Promise<void>;
}

const saveNothing: Save = () => Promise.resolve();

/** The parts of a sandbox, wired to one another. */
function assemble(options: SandboxOptions & { readonly managementKey: string }) {
  const { webhookSecret, stateFile, speed = 1, seed = 1 } = options;
  const { historyEndsAt = usualEndMs, firstNumber = 0 } = options;
  const stored = stateFile === undefined ? null : readState(stateFile);
  const state = stored ?? createState({ seed, historyEndsAt, firstNumber });
  installRootKeys(state.management, { ...options, seed: state.seed });
  const world = createWorld(state);
  const save = stateFile === undefined ? saveNothing : createSave(stateFile, state);
  const sender = new WebhookSender({
    endpoints: new Endpoints(world, webhookSecret),
    speed,
    onDone: (message) => {
      removeFromOutbox(world, message);
      // A failure is harmless: the message is then sent again under its old id.
      save().catch(() => undefined);
    },
  });
  sender.resume(state.outbox);
  const announcer = createAnnouncer({ world, sender, save });
  return { world, save, sender, announcer, speed, clock: createClock(latestTime(state)) };
}

/**
 * A sandbox of the service with its invented world.
 * @throws when the webhook secret is malformed or the state file is damaged.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { managementKey = `mg_${randomBytes(24).toString('base64url')}` } = options;
  const { world, sender, announcer, save, ...rest } = assemble({ ...options, managementKey });
  const faults = new Faults();
  const plan: Plan = { management: true, customCredentials: true, etlPipelines: true };
  const closing = new AbortController();
  const calls: string[] = [];
  let listening: Listening | null = null;
  const service: Service = {
    ...rest,
    world,
    announcer,
    save,
    closing: closing.signal,
    track: (work) => sender.track(work),
    originOf: (request) => listening?.url ?? new URL(request.url).origin,
  };
  const app = createApp({ service, sender, faults, plan, apiKey: options.apiKey, calls });

  return {
    fetch: (request) => app.fetch(request),
    ...routesOf(app),
    listen: async (at) => {
      listening = await startServer(app, at);
      return { url: listening.url };
    },
    calls,
    clearCalls: () => calls.splice(0),
    ...viewsOf(world),
    teamId: world.teamId,
    get managementUrl() {
      if (!listening) throw new Error('The sandbox does not listen yet.');
      return listening.url + managementPath;
    },
    managementKey,
    orgId: world.state.management.org.id,
    plan,
    faults,
    growth: createGrowth(world),
    webhooks: webhooksOf(sender, announcer),
    close: async () => {
      closing.abort();
      await sender.close();
      if (listening) await stopServer(listening.server);
      await save();
    },
  };
}

function routesOf({ routes }: Hono<SandboxEnv>) {
  const own = routes.filter(({ method }) => method !== 'ALL');
  const [management, others] = [true, false].map((isManagement) =>
    own.filter(({ path }) => path.startsWith(`${managementPath}/`) === isManagement),
  );
  return {
    routes: [...new Set(others?.map(({ method, path }) => `${method} ${path}`))],
    managementRoutes: [
      ...new Set(management?.map(({ method, path }) => `${method} ${path.slice(managementPath.length)}`)),
    ],
  };
}

function webhooksOf(sender: WebhookSender, announcer: Announcer): Webhooks {
  return {
    register: (url) => sender.register(url),
    knobs: sender.knobs,
    settled: () => sender.settled(),
    sent: sender.sent,
    send: announcer.send,
  };
}

/** Small read-only views of the world as it is at the call. */
function viewsOf({ state, catalogue }: World) {
  return {
    users: (): readonly UserView[] =>
      livingUsers({ state }).map((user) => ({
        userId: user.id,
        clientUserId: user.clientUserId,
        name: nameOf(user),
        hasDemographics: user.demographics !== null,
      })),
    orders: (): readonly OrderView[] =>
      state.orders.map((order) => ({
        orderId: order.id,
        userId: order.userId,
        method: order.method,
        status: currentStatus(order),
      })),
    labTests: (): readonly LabTestView[] =>
      catalogue.labTests.map(({ id, name, method }) => ({ labTestId: id, name, method })),
  };
}
