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

async function main(): Promise<void> {
  const stateFile = read('SANDBOX_STATE_FILE');
  const managementKey = read('SANDBOX_MANAGEMENT_KEY');
  const options: SandboxOptions = {
    apiKey: read('SANDBOX_API_KEY') ?? `sk_sandbox_${randomBytes(18).toString('base64url')}`,
    webhookSecret: read('SANDBOX_WEBHOOK_SECRET') ?? `whsec_${randomBytes(32).toString('base64')}`,
    speed: readNumber('SANDBOX_SPEED', 1) || 1,
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
  const destinations = `${read('SANDBOX_WEBHOOK_URL') ?? ''},${read('SANDBOX_DESTINATION') ?? ''}`;
  for (const url of destinations.split(',')) {
    if (url.trim()) sandbox.webhooks.register(url.trim());
  }
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
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
