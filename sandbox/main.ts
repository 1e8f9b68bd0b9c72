import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { createSandbox, type SandboxOptions } from './sandbox.ts';

// The only reader of the environment in this folder; an empty variable counts as left out.
function read(name: string): string | undefined {
  return process.env[name] || undefined;
}

function readNumber(name: string, usual: number): number {
  const text = read(name);
  const value = text === undefined ? usual : Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name} must be a number, not "${text}".`);
}

function readSpeed(): number {
  const speed = readNumber('SANDBOX_SPEED', 1);
  if (speed > 0) return speed;
  throw new Error('SANDBOX_SPEED must be a number above 0.');
}

function readWebhookSecret(): string {
  const secret = read('SANDBOX_WEBHOOK_SECRET') ?? `whsec_${randomBytes(32).toString('base64')}`;
  if (/^whsec_([A-Za-z0-9+/]{4})+([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(secret)) return secret;
  throw new Error('SANDBOX_WEBHOOK_SECRET must be whsec_ followed by base64.');
}

const receivers = /^(https?|rabbitmq|eventhubs|pubsub\+https?):$/;

function readReceivers(name: string): readonly string[] {
  const addresses = (read(name) ?? '').split(',').map((address) => address.trim());
  const given = addresses.filter((address) => address !== '');
  if (given.every((address) => receivers.test(URL.parse(address)?.protocol ?? ''))) return given;
  throw new Error(`${name} must list http or https addresses, or those of brokers.`);
}

async function main(): Promise<void> {
  const stateFile = read('SANDBOX_STATE_FILE');
  const managementKey = read('SANDBOX_MANAGEMENT_KEY');
  const options: SandboxOptions = {
    apiKey: read('SANDBOX_API_KEY') ?? `sk_sandbox_${randomBytes(18).toString('base64url')}`,
    webhookSecret: readWebhookSecret(),
    speed: readSpeed(),
    // Nine in the morning here, so that people have ordered by day.
    historyEndsAt: new Date().setHours(9, 0, 0, 0),
    firstNumber: Date.now(),
    ...(stateFile === undefined ? {} : { stateFile }),
    ...(managementKey === undefined ? {} : { managementKey }),
  };
  const sandbox = createSandbox(options);
  // Before the address is printed, so that its reader may end the process at once.
  const stop = () => void sandbox.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const given = ['SANDBOX_WEBHOOK_URL', 'SANDBOX_DESTINATION'].flatMap(readReceivers);
  for (const receiver of given) sandbox.webhooks.register(receiver);
  const { url } = await sandbox.listen({
    host: read('SANDBOX_HOST') ?? '127.0.0.1',
    port: readNumber('SANDBOX_PORT', 4010),
  });
  process.stdout.write(
    `Sandbox listening on ${url}\n` +
      `SERVICE_URL=${url}\nSERVICE_API_KEY=${options.apiKey}\nWEBHOOK_SECRETS=${options.webhookSecret}\n` +
      `SERVICE_MANAGEMENT_URL=${sandbox.managementUrl}\nSERVICE_MANAGEMENT_KEY=${sandbox.managementKey}\n` +
      `SERVICE_ORG_ID=${sandbox.orgId}\nMANAGEMENT_API_KEYS=${randomBytes(32).toString('base64url')}\n` +
      `PORTAL_ORIGINS=${url}\n`,
  );
  if (given.length > 0) return;
  const address = 'http://127.0.0.1:4000/webhooks';
  process.stderr.write(
    `No gateway is named for its webhooks. Start it with SANDBOX_WEBHOOK_URL=${address} for a gateway there.\n`,
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
