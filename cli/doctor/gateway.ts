import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../gateway/config/config.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import { fieldOf, readJson, request } from './request.ts';

interface Running {
  readonly finding: Finding;
  /** The address of the gateway that runs here; null where none does. */
  readonly url: string | null;
}

/** Whether the gateway's port is free, or the gateway answers there. */
export async function checkPort({ port, host }: Config): Promise<Running> {
  const check = 'port';
  if (port === 0) return { finding: ok(check, 'PORT=0 is any free port.'), url: null };
  const code = await tryPort(port, host);
  if (code === null) return { finding: ok(check, `${port} is free: no gateway runs here.`), url: null };
  if (code !== 'EADDRINUSE') {
    const message = `Nothing can listen on ${host}:${port} (${code}).`;
    return { finding: fault(check, message, 'Check HOST and PORT.'), url: null };
  }
  const url = `http://${addressOf(host)}:${port}`;
  const ready = await readJson(await request(`${url}/ready`));
  if (typeof fieldOf(ready, 'eventLog') !== 'boolean') {
    const message = `Another program listens on ${port}.`;
    return { finding: fault(check, message, 'End it, or set another PORT.'), url: null };
  }
  const problems = fieldOf(ready, 'problems');
  const list = Array.isArray(problems) ? problems.join(' ') : '';
  if (list === '') return { finding: ok(check, `The gateway answers on ${port}, and is ready.`), url };
  return {
    finding: warning(check, `The gateway answers on ${port}: ${list}`, 'See docs/operations.md.'),
    url,
  };
}

/** @returns why nothing can listen there; null where it can */
async function tryPort(port: number, host: string): Promise<string | null> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

const body = JSON.stringify({ event_type: 'labgraph.webhook.test', data: {}, team_id: null, user_id: null });

/**
 * Whether PUBLIC_URL leads to a gateway with this webhook secret: it is sent a test event, which the log stores once however
 * often it comes. No secret leaves this machine, because the address may belong to anybody.
 */
export async function checkPublicUrl(config: Config, isRunning: boolean): Promise<Finding> {
  const { publicUrl, service, intake, webhookSecrets, generated } = config;
  const check = 'public address';
  if (publicUrl === null) {
    if (service.kind === 'embedded' || intake !== null) return ok(check, 'None is needed.');
    const message = 'PUBLIC_URL is not set: whether webhooks reach this gateway is not known.';
    return warning(check, message, 'Set PUBLIC_URL to the address at which the service reaches it.');
  }
  const url = `${publicUrl}/webhooks`;
  const unsigned = await post(url, {});
  const code = fieldOf(fieldOf(await readJson(unsigned), 'error'), 'code');
  if (code !== 'WEBHOOK_UNVERIFIED') {
    // A proxy before a gateway that does not run answers 502 to 504.
    const isAbsent = unsigned === null || (unsigned.status >= 502 && unsigned.status <= 504);
    if (isAbsent && !isRunning)
      return warning(check, 'No gateway answers there yet.', 'Start the gateway and run this again.');
    const message = `PUBLIC_URL reaches ${unsigned === null ? 'nothing' : 'something else than a gateway'}.`;
    return fault(check, message, 'Check PUBLIC_URL, and the proxy that passes /webhooks on.');
  }
  const [secret] = webhookSecrets;
  if (secret === undefined || generated.includes('WEBHOOK_SECRETS')) return ok(check, 'A gateway answers.');
  const signed = await post(url, signatureOf(secret));
  await signed?.body?.cancel();
  if (signed?.ok) return ok(check, 'A signed test event was accepted and stored.');
  if (signed?.status === 401) {
    const message = 'The gateway at PUBLIC_URL refuses the first of WEBHOOK_SECRETS.';
    return fault(check, message, 'Restart it with this configuration, or correct PUBLIC_URL or the clock.');
  }
  return fault(check, 'The gateway at PUBLIC_URL cannot store events.', 'See docs/operations.md.');
}

async function post(url: string, headers: Readonly<Record<string, string>>): Promise<Response | null> {
  return await request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
}

function signatureOf(secret: string): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const id = `labgraph-doctor-${createHash('sha256').update(body).digest('hex').slice(0, 16)}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': `v1,${signature}` };
}

const widgetFile = /^([^/]+\/)portal-widget\.js$/;
const build = "Run npm run build in the gateway's folder, and start the gateway again.";

/** Whether the widget is built, and its file of one version served: asks the running gateway, else reads the files. */
export async function checkWidget(url: string | null, folder: string): Promise<Finding> {
  const check = 'widget';
  if (url === null) return await checkBuilt(folder);
  const hashes = await readJson(await request(`${url}/widget/sri.json`));
  const name = Object.keys(Object(hashes)).find((each) => widgetFile.test(each));
  if (name === undefined) return fault(check, 'The gateway has no built widget.', build);
  const response = await request(`${url}/widget/${name}`);
  await response?.body?.cancel();
  return response?.ok
    ? ok(check, 'The gateway serves it, also by its version.')
    : fault(check, 'The gateway does not serve the version that it lists.', build);
}

async function checkBuilt(folder: string): Promise<Finding> {
  const check = 'widget';
  if (!existsSync(join(folder, 'gateway/main.ts'))) {
    const message = 'Whether it is built is not known: no gateway runs, and this is not its folder.';
    return warning(check, message, "Run this in the gateway's folder, or start the gateway first.");
  }
  const read = (name: string) => readFile(join(folder, 'widget/dist', name)).catch(() => null);
  const [file, list] = await Promise.all([read('portal-widget.js'), read('sri.json')]);
  if (file === null || list === null) return fault(check, 'It is not built.', build);
  const integrity = `sha384-${createHash('sha384').update(file).digest('base64')}`;
  const isListed = Object.entries(Object(JSON.parse(list.toString('utf8')))).some(
    ([name, hash]) => widgetFile.test(name) && hash === integrity,
  );
  return isListed ? ok(check, 'It is built.') : fault(check, 'Its file and sri.json do not fit.', build);
}
