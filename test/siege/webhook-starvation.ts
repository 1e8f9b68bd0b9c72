import { Agent } from 'node:http';
import { connect } from 'node:net';
import { createWebhookPost } from '../support/post-webhook.ts';
import type { Target } from './connections.ts';

export interface StarvationOptions {
  readonly url: string;
  readonly webhookSecret: string;
  /** Connections that hold a body back at any time, half of them unsigned and half with forged signatures. */
  readonly connections: number;
  /** How many genuine webhooks are sent meanwhile, one after the other. */
  readonly genuine: number;
}

export interface StarvationReport {
  /** Connections of the flood: opened, and closed by the gateway before it was over. */
  readonly hostile: { readonly opened: number; readonly closed: number };
  readonly genuine: {
    readonly sent: number;
    readonly acknowledged: number;
    readonly turnedAway: number;
    /** Other statuses; 0 where there was no answer. */
    readonly other: readonly number[];
    readonly slowestMs: number;
  };
}

const bodyBytes = 1024 * 1024;
const answerWithinMs = 15_000;
/** Genuine messages are small and large by turns. */
const genuineBytes = [500, 20_000, 300_000] as const;

/** Floods the gateway, and sends genuine webhooks from the same address meanwhile. Ends with the last of them, or when the signal aborts. */
export async function starveWebhooks(
  { url, webhookSecret, connections, genuine }: StarvationOptions,
  signal: AbortSignal,
): Promise<StarvationReport> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const { isHeld, isOver } = floodWithUnfinished({ url, connections, signal: ended });
  // The flood is there before the first genuine message comes.
  await isHeld;
  let sent: StarvationReport['genuine'];
  try {
    sent = await sendGenuine({ url, webhookSecret, genuine }, ended);
  } finally {
    over.abort();
  }
  return { hostile: await isOver, genuine: sent };
}

export interface Flood {
  /** Resolves when each connection has sent all of its first body but the last byte. */
  readonly isHeld: Promise<unknown>;
  /** Resolves when the signal aborts. */
  readonly isOver: Promise<StarvationReport['hostile']>;
}

/**
 * Holds webhook bodies of 1 MiB whose last byte never comes, each followed by the next as soon as the gateway has closed it:
 * half of them unsigned and half with forged signatures.
 */
export function floodWithUnfinished({
  url,
  connections,
  signal,
}: Target & { readonly connections: number }): Flood {
  const hostile = { opened: 0, closed: 0 };
  const held: Promise<void>[] = [];
  const floods = Array.from({ length: connections }, async (_, index) => {
    const headers = index % 2 === 0 ? {} : forgedHeaders(index);
    while (!signal.aborted) {
      hostile.opened += 1;
      const { isHeld, isClosed } = holdBody(url, headers, signal);
      held.push(isHeld);
      await isClosed;
      if (!signal.aborted) hostile.closed += 1;
    }
  });
  return { isHeld: Promise.all(held), isOver: Promise.all(floods).then(() => hostile) };
}

/** Well-formed, and signed with no secret. */
function forgedHeaders(index: number): Readonly<Record<string, string>> {
  return {
    'webhook-id': `forged_${index}`,
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32, index).toString('base64')}`,
  };
}

const heldBack = Buffer.alloc(bodyBytes - 1, 'x');

/** Sends all of a body but its last byte. Both promises resolve at the latest when the connection ends. */
function holdBody(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
  const { hostname, port, host } = new URL(url);
  const lines = Object.entries({ host, 'content-length': String(bodyBytes), ...headers });
  const head = ['POST /webhooks HTTP/1.1', ...lines.map(([name, value]) => `${name}: ${value}`)];
  const { promise: isHeld, resolve: noteHeld } = Promise.withResolvers<void>();
  const { promise: isClosed, resolve: noteClosed } = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port: Number(port), signal });
  socket.on('error', () => {});
  socket.once('close', () => {
    noteHeld();
    noteClosed();
  });
  socket.resume();
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(heldBack, () => noteHeld());
  return { isHeld, isClosed };
}

async function sendGenuine(
  { url, webhookSecret, genuine }: Omit<StarvationOptions, 'connections'>,
  signal: AbortSignal,
): Promise<StarvationReport['genuine']> {
  const agent = new Agent({ keepAlive: true });
  const post = createWebhookPost({ address: () => url, agent, timeoutMs: answerWithinMs });
  const statuses: number[] = [];
  let slowestMs = 0;
  for (let index = 0; index < genuine && !signal.aborted; index += 1) {
    const filler = 'x'.repeat(genuineBytes[index % genuineBytes.length] ?? 0);
    const body = JSON.stringify({ event_type: 'of.starvation', data: { index, filler } });
    const startedAt = performance.now();
    statuses.push(await post({ id: `genuine_${index}`, body }, webhookSecret));
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  agent.destroy();
  const isAcknowledged = (status: number) => status === 200 || status === 202;
  return {
    sent: statuses.length,
    acknowledged: statuses.filter(isAcknowledged).length,
    turnedAway: statuses.filter((status) => status === 503).length,
    other: statuses.filter((status) => !isAcknowledged(status) && status !== 503),
    slowestMs: Math.round(slowestMs),
  };
}
