import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { watchMemory } from '../support/memory.ts';
import type { Order } from './attacker.ts';
import type { Counts } from './attacks.ts';
import { createBystanders, type Timing } from './bystanders.ts';

export interface RoundOptions {
  /** Of `attacks`. */
  readonly name: string;
  /** How long the quiet figures are taken, and how long the attack goes on before SIGTERM comes. */
  readonly quietMs: number;
  readonly attackMs: number;
}

export interface RoundReport {
  readonly name: string;
  /** What the attack did. */
  readonly attack: Counts;
  /** The most that was resident. */
  readonly memoryMiB: number;
  /** Of one core, during the attack. */
  readonly processorShare: number;
  /** Another viewer's small query, before and during the attack. */
  readonly quiet: Timing;
  readonly besieged: Timing;
  /** Genuine webhooks, and those of them that were not acknowledged. */
  readonly webhooks: { readonly sent: number; readonly turnedAway: number };
  readonly slowestHealthMs: number;
  /** Queries of the viewer and health checks without a good answer. */
  readonly failed: number;
  /** From SIGTERM to the end of the process, and its exit code; null where a signal ended it. */
  readonly endedMs: number;
  readonly exitCode: number | null;
}

const gatewayKey = 'a-gateway-key-of-the-siege';
const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
const attackStartsMs = 500;

/** Starts a gateway with default limits, attacks it while others use it, and ends it in the middle of the attack. */
export async function runRound({ name, quietMs, attackMs }: RoundOptions): Promise<RoundReport> {
  using folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    GATEWAY_API_KEYS: gatewayKey,
    WEBHOOK_SECRETS: webhookSecret,
    LOG_LEVEL: 'error',
  });
  let attacker: ReturnType<typeof startAttacker> | null = null;
  try {
    const { url, pid } = gateway;
    const [attackerToken, viewerToken] = await createViewerTokens(url);
    using bystanders = createBystanders({ pid, url, viewerToken, webhookSecret });
    // The first answers are slower than all others.
    await bystanders.live(1000);
    const quiet = await bystanders.live(quietMs);

    attacker = startAttacker({ name, url, token: attackerToken });
    await wait(attackStartsMs);
    const processorBefore = readProcessorMs(pid);
    const startedAt = performance.now();
    const { result, mostMiB } = await watchMemory(pid, bystanders.live(attackMs));
    const wallMs = performance.now() - startedAt;
    const processorShare = (readProcessorMs(pid) - processorBefore) / wallMs;

    const endingAt = performance.now();
    const exitCode = await gateway.end('SIGTERM');
    const endedMs = Math.round(performance.now() - endingAt);
    return {
      name,
      attack: await attacker.end(),
      memoryMiB: Math.round(mostMiB),
      processorShare,
      quiet: quiet.viewer,
      besieged: result.viewer,
      webhooks: result.webhooks,
      slowestHealthMs: result.slowestHealthMs,
      failed: quiet.failed + result.failed,
      endedMs,
      exitCode,
    };
  } finally {
    attacker?.kill();
    await gateway.end('SIGKILL');
  }
}

function startAttacker(order: Order) {
  const child = fork(new URL('./attacker.ts', import.meta.url), [JSON.stringify(order)]);
  return {
    end: async (): Promise<Counts> => {
      const report = once(child, 'message');
      child.send('end');
      const [counts] = await report;
      return counts;
    },
    kill: () => child.kill('SIGKILL'),
  };
}

/** Tokens with the default limits: of the user with the most orders, who attacks, and of the next one. */
async function createViewerTokens(url: string): Promise<readonly [string, string]> {
  const ask = async (query: string, variables = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()).data;
  };
  const { users } = await ask('{ users(first: 100) { nodes { id orders(first: 1) { totalCount } } } }');
  const nodes: readonly WithOrders[] = users.nodes;
  const [busiest, next] = nodes.toSorted((one, other) => other.orders.totalCount - one.orders.totalCount);
  const tokenFor = async (user: WithOrders | undefined) => {
    const input = { userId: user?.id, scopes };
    const mutation =
      'mutation ($input: CreateViewerTokenInput!) { createViewerToken(input: $input) { token } }';
    return (await ask(mutation, { input })).createViewerToken.token;
  };
  return [await tokenFor(busiest), await tokenFor(next)];
}

/** The widget's, and to upload. */
const scopes = ['read:orders', 'launch:portal', 'write:lab-reports'];

interface WithOrders {
  readonly id: string;
  readonly orders: { readonly totalCount: number };
}

/** Processor time of a process of this machine, all its threads, in user and kernel. */
function readProcessorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the command ends with the last bracket and may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
}
