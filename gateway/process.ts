import { AsyncResource } from 'node:async_hooks';
import { flushCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { compareSecrets } from './config/changed-secrets.ts';
import { type Config, readConfig } from './config/config.ts';
import { loadSecrets } from './config/generated-secrets.ts';
import { GatewayError } from './errors.ts';
import { type EventStore, openEventStore } from './events/open.ts';
import type { Gateway } from './gateway.ts';
import { createLog, createThrottle, type Log } from './log.ts';
import { endOnSignals, logWarnings, startWatchdog, toStartFault } from './shutdown.ts';

import { useTracing } from './telemetry/tracing.ts';

const dataFolder = './data';
const closeMs = 10_000;

type OpenStore = typeof openEventStore;

/** A started gateway, with the sandbox in the same process if no service is configured. */
interface Started extends Pick<Gateway, 'drain' | 'useSecrets' | 'close'> {
  readonly url: string;
}

async function start(config: Config, log: Log, openStore: OpenStore): Promise<Started> {
  const store = openEarly(config, log, openStore);
  if (config.service.kind === 'embedded') return await startWithSandbox(config, log, store);
  const { createGateway } = await import('./gateway.ts');
  const gateway = await createGateway({ config, log, store, serviceUrl: config.service.url });
  const { url } = await gateway.listen();
  return { ...gateway, url };
}

/**
 * Opens the event log early. A thread of its own checks all of it (0.1 s for 100,000 events) while this thread loads the
 * rest of the gateway (0.3 s). So webhooks wait for the longer of the two and not for both.
 */
function openEarly(
  { eventLog, eventLogKeys }: Config,
  log: Log,
  openStore: OpenStore,
): Promise<EventStore> | undefined {
  // Not for Redis: while modules are loaded the event loop does not run, so the server's answer would be processed
  // after its timeout.
  if (eventLog.kind === 'redis') return undefined;
  const store = openStore(eventLog, { keys: eventLogKeys, log });
  // The error is handled where the promise is awaited.
  store.catch(() => undefined);
  return store;
}

async function startWithSandbox(
  config: Config,
  log: Log,
  store: Promise<EventStore> | undefined,
): Promise<Started> {
  const { createSandbox } = await import('../sandbox/sandbox.ts');
  const { createDemo } = await import('./composition/sandbox-demo.ts');
  const { createGateway } = await import('./gateway.ts');
  const [webhookSecret = ''] = config.webhookSecrets;
  const sandbox = createSandbox({
    apiKey: config.service.apiKey,
    webhookSecret,
    // Nine in the morning here, so that people have ordered by day.
    historyEndsAt: new Date().setHours(9, 0, 0, 0),
    firstNumber: Date.now(),
    ...stateFileOf(config),
  });
  const service = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const gateway = await createGateway({
    config,
    log,
    store,
    serviceUrl: service.url,
    portalOrigins: [service.url],
    management: { url: sandbox.managementUrl, key: sandbox.managementKey, orgId: sandbox.orgId },
    demo: createDemo(sandbox, generatedGatewayKey(config)),
  });
  const { url } = await gateway.listen();
  // Not every system can connect to the wildcard address.
  const reached = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  sandbox.webhooks.register(`${reached}/webhooks`);
  const close = async () => {
    await gateway.close();
    await sandbox.close();
  };
  return { ...gateway, url, close };
}

/** The sandbox's state is stored beside the event log, so that both survive or are lost together. */
function stateFileOf({ eventLog }: Config): { readonly stateFile?: string } {
  return eventLog.kind === 'sqlite' ? { stateFile: join(dirname(eventLog.path), 'sandbox.json') } : {};
}

/** Null until it listens: until then there is nothing to close. */
let started: Started | null = null;

/** Starts the gateway in this process, or ends the process with one message that gives the reason. */
export async function runProcess({ openStore = openEventStore } = {}): Promise<void> {
  try {
    await run(openStore);
  } catch (error) {
    const { code, message } = toStartFault(error);
    process.stderr.write(`Labgraph cannot start (${code}):\n${message}\n`);
    process.exit(1);
  }
}

/** What a gateway over a real service does not have without NODE_ENV=production (docs/configuration.md). */
const leftOff =
  'Set NODE_ENV=production. Without it weak secrets are accepted, missing ones are generated in ./data, and the event log is encrypted and the audit trail written only if their keys are set.';

async function run(openStore: OpenStore): Promise<void> {
  const config = readConfig(process.env, () => loadSecrets(dataFolder));
  const log = createLog({ level: config.logLevel });
  logWarnings(log);
  if (config.service.kind === 'remote' && !config.production)
    log.warn('gateway.not_production', { advice: leftOff });
  let stopTracing = async () => {};
  const reload = createReload(config, log);
  let isReloadDue = false;
  endOnSignals({
    log,
    drain: async () => await started?.drain(),
    close: async () => {
      await started?.close();
      await stopTracing();
    },
    withinMs: config.drainSeconds * 1000 + closeMs,
    reload: () => {
      if (started === null) isReloadDue = true;
      else reload();
    },
  });
  if (config.tracing !== null) stopTracing = await startTracing(config.tracing.sampledShare, log);
  started = await start(config, log, openStore);
  const { url } = started;
  log.info('gateway.listening', { address: url, service: config.service.kind, store: config.eventLog.kind });
  process.stdout.write(describeStart(config, url));
  if (isReloadDue) reload();
  // Stored at once, because a killed process stores nothing.
  flushCompileCache();
  startWatchdog({ log, level: config.logLevel });
}

/**
 * Switches tracing on, before a gateway is made.
 * @returns sends the spans that wait
 */
async function startTracing(sampledShare: number, log: Log): Promise<() => Promise<void>> {
  const throttle = createThrottle();
  const advice = 'OTEL_EXPORTER_OTLP_ENDPOINT must name a collector that accepts OTLP over HTTP.';
  try {
    const { startSdk } = await import('./telemetry/sdk.ts');
    const { createTracing } = await import('./telemetry/open-telemetry.ts');
    // Bound to the context of the start: otherwise the log line would name the request of the batch's first span.
    const onUnsent = AsyncResource.bind(() => throttle(() => log.warn('tracing.unsent', { advice })));
    const { isOther, stop } = startSdk(onUnsent);
    useTracing(createTracing(isOther ? 1 : sampledShare));
    return stop;
  } catch (cause) {
    const message =
      '- OTEL_EXPORTER_OTLP_ENDPOINT needs the optional packages of OpenTelemetry, which are not installed.';
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  }
}

/**
 * Makes the function that reads the configuration again and uses its secrets, if it has no fault. Only files can have changed:
 * the environment of a process stays. It logs which labels came and went.
 */
function createReload(config: Config, log: Log): () => void {
  let current = config;
  return () => {
    try {
      const next = readConfig(process.env, () => loadSecrets(dataFolder));
      const changes = compareSecrets(current, next);
      started?.useSecrets(next);
      current = next;
      log.info('secrets.read', { count: changes.length });
      for (const { setting, added, removed, isLive } of changes) {
        if (isLive) log.info('secret.changed', { setting, added, removed });
        else log.warn('secret.needs_restart', { setting, added, removed });
      }
    } catch (error) {
      log.error('secrets.refused', { error, advice: 'The earlier secrets stay in use.' });
    }
  };
}

const firstQuery =
  '{ users(first: 2) { nodes { clientUserId orders(first: 2) { nodes { id status { label } } } } } }';

/**
 * The banner of a start: the address, and with the embedded sandbox everything needed for a first query. It shows a
 * generated gateway key, because nobody else knows it, and never a configured one.
 */
function describeStart(config: Config, url: string): string {
  // The address of all interfaces is no address to open: browsers do not trust it as this machine.
  const here = url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//localhost');
  const lines = [`Labgraph is listening on ${url}`, '', `  GraphQL   ${here}/graphql`];
  if (config.service.kind === 'embedded') lines.push(`  Demo      ${here}/`);
  const key = generatedGatewayKey(config);
  if (key !== null) {
    lines.push(`  Key       ${key}`, '', '  Try it:', `  ${describeCurl(here, key)}`);
  }
  const unset = config.generated.filter(
    (name) => config.service.kind === 'remote' && name !== 'GATEWAY_API_KEYS',
  );
  if (unset.length > 0) lines.push('', `  Generated, because not set: ${unset.join(', ')}`);
  return `${lines.join('\n')}\n\n`;
}

/** The gateway key that was generated because none was configured; null if one was. */
function generatedGatewayKey(config: Config): string | null {
  return config.generated.includes('GATEWAY_API_KEYS') ? (config.gatewayApiKeys[0] ?? null) : null;
}

/** For the shells of all systems: cmd has no single quotes, PowerShell no `\"`, and another `curl`. */
function describeCurl(url: string, key: string): string {
  const curl = process.platform === 'win32' ? 'curl.exe' : 'curl';
  return `${curl} -sG "${url}/graphql" -H "authorization: Bearer ${key}" --data-urlencode "query=${firstQuery}"`;
}
