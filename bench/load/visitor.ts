import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { queries } from '../reads/workloads.ts';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';

/** The process that reads and writes as the callers of a usual day do, during any fault of the service. */
export type VisitorCalls = typeof calls;

export interface Visiting {
  readonly url: string;
  readonly gatewayKey: string;
  readonly viewerTokenSecret: string;
  readonly orders: readonly OwnedOrder[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OwnedOrder {
  readonly id: string;
  readonly userId: string;
}

/** One request, and how it went. */
export interface Visit {
  readonly sentMs: number;
  readonly tookMs: number;
  /** `refused`: answered with errors, as it should be while the service is away. */
  readonly outcome: 'answered' | 'refused' | 'unanswered';
}

interface Asking {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly token: string;
}

const users = 20;
/** Of so many requests one is a write: 5 %. */
const writeEvery = 20;
/** Of the others so many in a row are one nested read and reads of one order. */
const nestedEvery = 3;
const timeoutMs = 40_000;
/** Several closed keep-alive connections may follow one another. */
const attempts = 5;
const ttlSeconds = 30;
const agent = new Agent({ keepAlive: true });
let turn = 0;

const calls = {
  /** So many a second, whether the last was answered or not; resolves with all of them. */
  visit: async (visiting: Visiting): Promise<readonly Visit[]> => {
    const startedMs = nowMs();
    const mint = createTokens(visiting);
    const visits = Array.from(
      { length: Math.floor(visiting.perSecond * visiting.seconds) },
      async (_, index) => {
        await wait(Math.max(0, startedMs + (index * 1000) / visiting.perSecond - nowMs()));
        turn += 1;
        const asking = await choose(turn, visiting, mint);
        const sentMs = nowMs();
        const outcome = await ask(visiting.url, asking);
        return { sentMs, tookMs: nowMs() - sentMs, outcome };
      },
    );
    return await Promise.all(visits);
  },
};

/** Creates new tokens all the time: the gateway must free its memory of each when it expires. */
function createTokens({ viewerTokenSecret }: Visiting): (userId: string) => Promise<string> {
  const { mint } = createViewerTokens({ secrets: [viewerTokenSecret], provider: null });
  return async (userId) =>
    (await mint({ userId, scopes: ['read:orders'], ttlSeconds, orderIds: null, origins: null })).token;
}

async function choose(
  number: number,
  { orders, gatewayKey }: Visiting,
  mint: (userId: string) => Promise<string>,
): Promise<Asking> {
  const order = orders[number % orders.length];
  if (order === undefined) throw new Error('There is nothing to ask for.');
  const { id, userId } = order;
  if (number % writeEvery === 0) {
    const day = `2030-01-${String((number % 28) + 1).padStart(2, '0')}`;
    return { query: queries.update, variables: { id, day }, token: gatewayKey };
  }
  if (number % nestedEvery === 0)
    return { query: queries.nested, variables: { first: users }, token: gatewayKey };
  const token = number % 2 === 0 ? gatewayKey : await mint(userId);
  return { query: queries.order, variables: { id }, token };
}

/** Retries when a keep-alive connection was closed as it was used again, like any HTTP client. */
async function ask(url: string, asking: Asking): Promise<Visit['outcome']> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const outcome = await askOnce(url, asking);
    if (outcome !== 'closed') return outcome;
  }
  return 'unanswered';
}

function askOnce(url: string, { query, variables, token }: Asking): Promise<Visit['outcome'] | 'closed'> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return new Promise((resolve) => {
    const asking = request(
      `${url}/graphql`,
      { method: 'POST', agent, headers, timeout: timeoutMs },
      async (response) => {
        const text = await response.toArray().then(
          (chunks) => chunks.join(''),
          () => null,
        );
        if (text === null) resolve('unanswered');
        else resolve(response.statusCode === 200 && !text.includes('"errors"') ? 'answered' : 'refused');
      },
    );
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(asking.reusedSocket ? 'closed' : 'unanswered'));
    asking.end(JSON.stringify({ query, variables }));
  });
}

serveCalls(calls);
