import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { type HostileQuery, hostileQueries } from '../support/hostile-queries.ts';
import { subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { canary, malformedBodies } from './malformed-bodies.ts';
import { holdConnections, type SlowReport } from './slow-connections.ts';

/** A gateway under siege, and what its own people know. */
export interface Besieged {
  readonly url: string;
  readonly token: string;
  readonly webhookSecret: string;
}

export interface BodiesReport {
  readonly sent: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Names of bodies that were answered with 5xx, or with what they said. */
  readonly failed: readonly string[];
  readonly echoed: readonly string[];
}

/** Sends every malformed body to a path, one after the other. */
export async function sendMalformed(
  { url, token, webhookSecret }: Besieged,
  path: '/graphql' | '/webhooks' | '/webhooks, signed',
): Promise<BodiesReport> {
  const statuses: Record<string, number> = {};
  const [failed, echoed]: [string[], string[]] = [[], []];
  const webhook = new Webhook(webhookSecret);
  for (const [index, { name, bytes }] of malformedBodies.entries()) {
    const signing = path === '/webhooks, signed' ? sign(webhook, `msg_${index}`, bytes) : {};
    const response = await fetch(`${url}${path === '/graphql' ? path : '/webhooks'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...signing },
      body: new Uint8Array(bytes),
    });
    const text = await response.text();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    if (response.status >= 500) failed.push(name);
    if (text.includes(canary.slice(0, 11))) echoed.push(`${name}: ${text}`);
  }
  return { sent: malformedBodies.length, statuses, failed, echoed };
}

/** Bytes that are no text are signed as what they are read as: the signature is then wrong, as a stranger's is. */
function sign(webhook: Webhook, id: string, bytes: Buffer): Readonly<Record<string, string>> {
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, bytes.toString()),
  };
}

export interface HostileReport {
  readonly name: string;
  readonly transport: string;
  /** Code of the refusal; null when there was none. */
  readonly code: string | null;
  /** The shortest of the times it was asked: what is longer is somebody else's work. */
  readonly ms: number;
}

/** Sends every hostile query over every transport, as often as wanted, and reports how long each refusal took. */
export async function sendHostile(besieged: Besieged, times = 1): Promise<readonly HostileReport[]> {
  const reports: HostileReport[] = [];
  for (const hostile of hostileQueries) {
    for (const [transport, ask] of Object.entries(transports)) {
      let [code, shortestMs]: [string | null, number] = [null, Infinity];
      for (let time = 0; time < times; time += 1) {
        const startedAt = performance.now();
        code = await ask(besieged, hostile);
        shortestMs = Math.min(shortestMs, performance.now() - startedAt);
      }
      reports.push({ name: hostile.name, transport, code, ms: Math.round(shortestMs) });
    }
  }
  return reports;
}

type AskFor = (besieged: Besieged, hostile: HostileQuery) => Promise<string | null>;

const transports: Readonly<Record<string, AskFor>> = {
  HTTP: async ({ url, token }, { query, variables }) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    return response.status >= 500 ? `HTTP ${response.status}` : readCode(await response.json());
  },
  SSE: (besieged, hostile) => readFirst(subscribeOverSse({ ...besieged, ...hostile })),
  WebSocket: (besieged, hostile) => readFirst(subscribeOverWebSocket({ ...besieged, ...hostile })),
};

async function readFirst(subscribing: ReturnType<typeof subscribeOverSse>): Promise<string | null> {
  const operation = await subscribing;
  try {
    return readCode(await operation.next());
  } catch (errors) {
    return Array.isArray(errors) ? readCode({ errors }) : `closed: ${JSON.stringify(errors)}`;
  } finally {
    await operation.close();
  }
}

function readCode(answer: { readonly errors?: readonly Coded[] } | null): string | null {
  return answer?.errors?.[0]?.extensions?.code ?? null;
}

interface Coded {
  readonly extensions?: { readonly code?: string };
}

export interface HoldingReport extends SlowReport {
  /** Of a normal query, asked twice a second meanwhile. */
  readonly answers: number;
  readonly slowestAnswerMs: number;
}

/** Holds connections open for as long as the gateway lets it, and asks a normal query all the while. */
export async function holdMany(
  { url, token }: Besieged,
  limits: { readonly count: number; readonly timeoutMs: number },
): Promise<HoldingReport> {
  let isOver = false;
  const holding = holdConnections({ url, token, ...limits }).finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/graphql?query={users{totalCount}}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = await response.json();
    if (typeof data?.users?.totalCount !== 'number') throw new Error('A normal query was not answered.');
    times.push(performance.now() - startedAt);
    await Promise.race([wait(500), holding]);
  }
  return { ...(await holding), answers: times.length, slowestAnswerMs: Math.round(Math.max(...times)) };
}
