import { Agent, request } from 'node:http';
import { nowMs } from '../support/clock.ts';
import { quantile } from '../support/figures.ts';
import { serveCalls } from '../support/load-process.ts';
import { type LoadRequest, requestAt } from './requests.ts';

/** The process that loads a server where there is no wrk. It takes more of the processor than wrk does. */
export type HammerCalls = typeof calls;

/** The outcome of one period of load. */
export interface LoadOutcome {
  readonly requests: number;
  /** The first turn that was not asked; with the last requests of a period, more were asked than answered. */
  readonly nextTurn: number;
  readonly seconds: number;
  /** Answers of another status than 2xx, and requests without an answer. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Hammering {
  readonly url: string;
  readonly requests: readonly LoadRequest[];
  /** The turn to begin with. */
  readonly from: number;
  readonly connections: number;
  readonly seconds: number;
}

const calls = {
  /** One request after the other on each connection, round and round, for so long. */
  hammer: async ({ url, requests, from, connections, seconds }: Hammering): Promise<LoadOutcome> => {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const startedMs = nowMs();
    const endMs = startedMs + seconds * 1000;
    const tookMs: number[] = [];
    let [turn, failed] = [from, 0];
    const work = async () => {
      while (nowMs() < endMs) {
        const sentMs = nowMs();
        const status = await send(url, requestAt(requests, turn++), agent);
        if (status < 200 || status > 299) failed += 1;
        tookMs.push(nowMs() - sentMs);
      }
    };
    await Promise.all(Array.from({ length: connections }, work));
    agent.destroy();
    return {
      requests: tookMs.length,
      nextTurn: turn,
      seconds: (nowMs() - startedMs) / 1000,
      failed,
      p50Ms: quantile(tookMs, 0.5),
      p99Ms: quantile(tookMs, 0.99),
    };
  },
};

/** Resolves with the status of the whole answer, 0 where none came. */
function send(url: string, { token, body }: LoadRequest, agent: Agent): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'application/json',
    authorization: `Bearer ${token}`,
  };
  return new Promise((resolve) => {
    const asking = request(url, { method: 'POST', agent, headers }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0)).resume();
    });
    asking.on('error', () => resolve(0));
    asking.end(body);
  });
}

serveCalls(calls);
