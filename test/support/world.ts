import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { type Folder, makeFolder } from './folder.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { gatewayKey, readTestConfig, serviceKey, webhookSecret } from './lab.ts';

/** A sandbox in this process and gateways, one after the other over one log. */
export interface World extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly folder: Folder;
  /** What gateways and commands are configured with. */
  readonly env: Readonly<Record<string, string>>;
  /** Opens a gateway in this process: enough, and a tenth of the work, where none is killed. */
  readonly openGateway: (port?: string) => Promise<OpenGateway>;
  /** Starts a gateway in a process of its own, at the address of the one before it where there was one and no port is given. */
  readonly startGateway: (port?: string) => Promise<GatewayProcess>;
  /** Moves an order along its life, as somebody at the service would. */
  readonly step: (orderId: string) => Promise<void>;
  /** A walk-in order at its very start. */
  readonly freshOrder: () => { readonly orderId: string; readonly userId: string };
}

interface OpenGateway {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function startWorld(more: Readonly<Record<string, string>> = {}): Promise<World> {
  const folder = makeFolder();
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  const { url: service } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const env = {
    SERVICE_URL: service,
    SERVICE_API_KEY: serviceKey,
    WEBHOOK_SECRETS: webhookSecret,
    GATEWAY_API_KEYS: gatewayKey,
    VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    EVENT_LOG: `sqlite:${folder.file('events.db')}`,
    ...more,
  };
  const started: GatewayProcess[] = [];
  const opened: OpenGateway[] = [];
  return {
    sandbox,
    folder,
    env,
    openGateway: async (port = '0') => {
      const log = createLog({ level: 'info', destination: { write: () => {} } });
      const gateway = await createGateway({
        config: readTestConfig({ ...env, PORT: port }),
        log,
        serviceUrl: service,
      });
      const { url } = await gateway.listen();
      sandbox.webhooks.register(`${url}/webhooks`);
      let closing: Promise<void> | null = null;
      const close = () => (closing ??= gateway.close());
      opened.push({ url, close });
      return { url, close };
    },
    startGateway: async (given) => {
      const before = started.at(-1);
      const port = given ?? (before === undefined ? '0' : new URL(before.url).port);
      const gateway = await startGatewayProcess(folder.path, { ...env, PORT: port });
      if (before === undefined) sandbox.webhooks.register(`${gateway.url}/webhooks`);
      started.push(gateway);
      return gateway;
    },
    step: async (orderId) => {
      const headers = { 'x-service-api-key': serviceKey };
      await fetch(`${service}/v3/order/${orderId}/test`, { method: 'POST', headers });
      await sandbox.webhooks.settled();
    },
    freshOrder: () => {
      const order = sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
      if (order === undefined) throw new Error('The world has no fresh walk-in order.');
      return order;
    },
    [Symbol.asyncDispose]: async () => {
      for (const gateway of started) await gateway.end('SIGKILL');
      for (const gateway of opened) await gateway.close();
      await sandbox.close();
      folder[Symbol.dispose]();
    },
  };
}
