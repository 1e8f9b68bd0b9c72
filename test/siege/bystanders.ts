import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { createWebhookPost } from '../support/post-webhook.ts';

export interface BystandersOptions {
  /** Of the gateway, on this machine. */
  readonly pid: number;
  readonly url: string;
  readonly viewerToken: string;
  readonly webhookSecret: string;
}

export interface Timing {
  readonly asked: number;
  readonly p50: number;
  readonly p95: number;
  /** Of the processor time that the gateway's main thread took meanwhile: other processes cannot change it. */
  readonly processorP95: number;
}

export interface BystandersReport {
  readonly viewer: Timing;
  readonly webhooks: { readonly sent: number; readonly turnedAway: number };
  readonly slowestHealthMs: number;
  /** Queries of the viewer and health checks without a good answer. */
  readonly failed: number;
}

/** Clients that use a gateway during an attack: a viewer, a sender of webhooks, and a health check. */
export interface Bystanders extends Disposable {
  readonly live: (ms: number) => Promise<BystandersReport>;
}

/** What a page of the viewer asks. */
const viewerQuery = '{ orders(first: 5) { nodes { id status { label } } } }';
/** Between two questions of one of them. */
const every = { viewerMs: 20, webhookMs: 100, healthMs: 100 } as const;
const webhookBytes = [500, 20_000] as const;
const answerWithinMs = 15_000;

export function createBystanders({ pid, url, viewerToken, webhookSecret }: BystandersOptions): Bystanders {
  const agent = new Agent({ keepAlive: true });
  const post = createWebhookPost({ address: () => url, agent, timeoutMs: answerWithinMs });
  let messages = 0;
  const sendWebhook = async () => {
    messages += 1;
    const filler = 'x'.repeat(webhookBytes[messages % webhookBytes.length] ?? 0);
    const body = JSON.stringify({ event_type: 'of.siege', data: { messages, filler } });
    const status = await post({ id: `siege_${messages}`, body }, webhookSecret);
    return status === 200 || status === 202;
  };
  const askViewer = () =>
    isAnswered(`${url}/graphql`, {
      agent,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${viewerToken}` },
      body: JSON.stringify({ query: viewerQuery }),
    });
  // Over a new connection each time, as a load balancer asks.
  const askHealth = () => isAnswered(`${url}/health`, { agent: false });

  return {
    live: async (ms) => {
      const over = AbortSignal.timeout(ms);
      const [viewer, webhooks, health] = await Promise.all([
        askEvery(every.viewerMs, { pid, ask: askViewer, over }),
        askEvery(every.webhookMs, { pid, ask: sendWebhook, over }),
        askEvery(every.healthMs, { pid, ask: askHealth, over }),
      ]);
      return {
        viewer: summarise(viewer),
        webhooks: { sent: webhooks.times.length, turnedAway: webhooks.failed },
        slowestHealthMs: Math.round(Math.max(0, ...health.times)),
        failed: viewer.failed + health.failed,
      };
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

interface Asking {
  readonly agent: Agent | false;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Whether there was an answer with 200 and no errors. */
function isAnswered(url: string, { body, ...options }: Asking): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const method = body === undefined ? 'GET' : 'POST';
  const asking = request(url, { ...options, method, timeout: answerWithinMs }, (response) => {
    text(response).then(
      (answer) => resolve(response.statusCode === 200 && !answer.includes('"errors"')),
      () => resolve(false),
    );
  });
  asking.on('timeout', () => asking.destroy());
  asking.on('error', () => resolve(false));
  asking.end(body);
  return promise;
}

interface Pace {
  readonly pid: number;
  readonly ask: () => Promise<boolean>;
  readonly over: AbortSignal;
}

async function askEvery(ms: number, { pid, ask, over }: Pace) {
  const [times, processorTimes]: [number[], number[]] = [[], []];
  let failed = 0;
  while (!over.aborted) {
    const [startedAt, processorBefore] = [performance.now(), readMainThreadMs(pid)];
    if (!(await ask())) failed += 1;
    const tookMs = performance.now() - startedAt;
    times.push(tookMs);
    processorTimes.push(readMainThreadMs(pid) - processorBefore);
    await wait(Math.max(0, ms - tookMs));
  }
  return { times, processorTimes, failed };
}

/** Processor time of the main thread of a process of this machine. */
function readMainThreadMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

interface Asked {
  readonly times: readonly number[];
  readonly processorTimes: readonly number[];
}

function summarise({ times, processorTimes }: Asked): Timing {
  return {
    asked: times.length,
    p50: findQuantile(times, 0.5),
    p95: findQuantile(times, 0.95),
    processorP95: findQuantile(processorTimes, 0.95),
  };
}

function findQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
