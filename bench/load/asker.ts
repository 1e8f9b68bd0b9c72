import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';

/** The process that asks queries. */
export type AskerCalls = typeof calls;

export interface Asked {
  readonly url: string;
  readonly token: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly perSecond: number;
  readonly seconds: number;
}

const agent = new Agent({ keepAlive: true });

const calls = {
  /** So many a second, whether the last was answered or not; resolves with what each took, in milliseconds. */
  askSteadily: async (asked: Asked): Promise<readonly number[]> => {
    const startedMs = nowMs();
    const answers = Array.from({ length: asked.perSecond * asked.seconds }, async (_, index) => {
      await wait(Math.max(0, startedMs + (index * 1000) / asked.perSecond - nowMs()));
      const sentMs = nowMs();
      await ask(asked);
      return nowMs() - sentMs;
    });
    return await Promise.all(answers);
  },
};

function ask({ url, token, query, variables }: Asked): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asking = request(`${url}/graphql`, { method: 'POST', agent, headers }, async (response) => {
      const text = (await response.toArray()).join('');
      if (response.statusCode === 200 && !text.includes('"errors"')) resolve();
      else reject(new Error(`A query was answered ${response.statusCode}: ${text}`));
    });
    asking.on('error', reject);
    asking.end(JSON.stringify({ query, variables }));
  });
}

serveCalls(calls);
