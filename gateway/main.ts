import { dirname, join } from 'node:path';
import process from 'node:process';
import closeWithGrace from 'close-with-grace';
import { type Config, readConfig } from './config.ts';
import { isGatewayError } from './errors.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { keepSecrets } from './kept-secrets.ts';
import { createLog, type Log } from './log.ts';
import { describeStart, generatedGatewayKey } from './start-text.ts';

const dataFolder = './data';
const drainMs = 10_000;

/** A started gateway, with the sandbox it brought along where no service is configured. */
interface Started {
  readonly gateway: Gateway;
  readonly url: string;
  readonly closeSandbox: () => Promise<void>;
}

async function start(config: Config, log: Log): Promise<Started> {
  if (config.service.kind === 'embedded') return await startWithSandbox(config, log);
  const gateway = createGateway({ config, log, serviceUrl: config.service.url });
  const { url } = await gateway.listen();
  return { gateway, url, closeSandbox: async () => {} };
}

async function startWithSandbox(config: Config, log: Log): Promise<Started> {
  const { createSandbox } = await import('../sandbox/sandbox.ts');
  const { createDemo } = await import('./demo-of-sandbox.ts');
  const [webhookSecret = ''] = config.webhookSecrets;
  const sandbox = createSandbox({ apiKey: config.service.apiKey, webhookSecret, ...stateFileOf(config) });
  const service = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const gateway = createGateway({
    config,
    log,
    serviceUrl: service.url,
    portalOrigins: [service.url],
    demo: createDemo(sandbox, generatedGatewayKey(config)),
  });
  const { url } = await gateway.listen();
  sandbox.webhooks.register(`http://127.0.0.1:${new URL(url).port}/webhooks`);
  return { gateway, url, closeSandbox: sandbox.close };
}

/** The sandbox's state stands beside the event log: the two are kept or lost together. */
function stateFileOf({ eventLog }: Config): { readonly stateFile?: string } {
  return eventLog.kind === 'sqlite' ? { stateFile: join(dirname(eventLog.path), 'sandbox.json') } : {};
}

async function run(): Promise<void> {
  const config = readConfig(process.env, () => keepSecrets(dataFolder));
  const log = createLog({ level: config.logLevel });
  const { gateway, url, closeSandbox } = await start(config, log);
  closeWithGrace({ delay: drainMs, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.error('gateway.crashed', { error: err });
    log.info('gateway.stopping', signal === undefined ? {} : { signal });
    await gateway.close();
    await closeSandbox();
  });
  log.info('gateway.listening', { address: url, service: config.service.kind, store: config.eventLog.kind });
  process.stdout.write(describeStart(config, url));
}

try {
  await run();
} catch (error) {
  if (!isGatewayError(error)) throw error;
  process.stderr.write(`Labgraph cannot start (${error.code}):\n${error.message}\n`);
  process.exit(1);
}
