import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';

export const apiKey = 'sk_sandbox_of_the_tests';
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

/** Asks the service; the caller names the shape it is about to check. */
type Ask = <Body = unknown>(method: string, path: string, body?: unknown) => Promise<Answer<Body>>;

export interface OpenSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly ask: Ask;
}

/** A request as the gateway would send it. */
export function requestTo(origin: string, method: string, path: string, body?: unknown): Request {
  return new Request(origin + path, {
    method,
    headers: { 'x-service-api-key': apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A sandbox that is asked without a socket. */
export function openSandbox(more: Partial<SandboxOptions> = {}): OpenSandbox {
  const sandbox = createSandbox({ apiKey, webhookSecret, speed: 100_000, ...more });
  return {
    sandbox,
    ask: async <Body>(method: string, path: string, body?: unknown) => {
      const answer = await sandbox.fetch(requestTo('http://sandbox.test', method, path, body));
      return { status: answer.status, body: (await answer.json()) as Body };
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

/** The item at this place; a test that counts on it fails with a clear word. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index);
  if (item === undefined) throw new Error(`There is no item ${index}.`);
  return item;
}

export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { event_type: string; user_id: string; data: Record<string, unknown> };
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Answers of the next requests, in order; 204 after them. */
  readonly answers: number[];
}

/** A real receiver of webhooks. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const text = Buffer.concat(chunks).toString();
    const { headers } = request;
    received.push({ id: String(headers['svix-id']), headers, text, body: JSON.parse(text) });
    const status = answers.shift() ?? 204;
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The receiver has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    received,
    answers,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Whether the message is signed with the secret of the tests. */
export function isSigned({ id, headers, text }: Received): boolean {
  try {
    new Webhook(webhookSecret).verify(text, {
      'webhook-id': id,
      'webhook-timestamp': String(headers['svix-timestamp']),
      'webhook-signature': String(headers['svix-signature']),
    });
    return true;
  } catch {
    return false;
  }
}

/** An address in Phoenix where nobody lives. */
export const shippingDetails = {
  receiver_name: 'Avery Sample',
  first_line: '100 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'US',
  phone_number: '+16025550100',
};

/** The last status of each message, in the order of arrival. */
export function statusesOf(received: readonly Received[]): readonly unknown[] {
  return received.map(({ body }) => (body.data.last_event as { status: string } | undefined)?.status);
}
