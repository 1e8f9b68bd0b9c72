import { readFileSync } from 'node:fs';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { startWorld } from '../../support/world.ts';
import { hostileTexts } from './hostile-texts.ts';
import { type Place, places } from './places.ts';
import { type Operation, type Send, sendOverHttp, transports } from './transports.ts';

/** A gateway in a process of its own, whose processor time is read from the kernel. */
export interface TextGateway extends AsyncDisposable {
  readonly gateway: GatewayProcess;
}

export async function startTextGateway(): Promise<TextGateway> {
  const world = await startWorld({ RATE_LIMIT_POINTS: '0', LOG_LEVEL: 'error' });
  const gateway = await world.startGateway();
  return { gateway, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

export const maxMs = 50;

/** Processor time of the thread that answers, in milliseconds; the kernel counts it, independent of other load. */
function usedMs({ pid }: GatewayProcess): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

interface Measured {
  readonly answer: string;
  readonly ms: number;
}

/** A request that took too long is repeated, up to five times: code is compiled and memory collected meanwhile. */
export async function measure(gateway: GatewayProcess, send: Send, operation: Operation): Promise<Measured> {
  let [answer, ms] = ['', Number.POSITIVE_INFINITY];
  for (let tries = 0; tries < 5 && ms > maxMs; tries += 1) {
    const before = usedMs(gateway);
    answer = await send(operation);
    ms = Math.min(ms, usedMs(gateway) - before);
  }
  return { answer, ms };
}

/** How texts reach the gateway, and which answers to them are right. */
export interface Way {
  readonly title: string;
  readonly length: number;
  readonly open: (url: string) => Promise<Send> | Send;
  readonly isAnswer: (answer: string, place: Place) => boolean;
}

/** Three transports with texts that are too long for every place, and HTTP with the longest that are let through. */
export const ways: readonly Way[] = [
  ...transports.map(([transport, open]) => ({
    title: `over ${transport} every text of 24,000 characters is refused within ${maxMs} ms of processor, and not quoted`,
    length: 24_000,
    open,
    isAnswer: (answer: string, { isSubscription }: Place) => {
      // Over plain HTTP a subscription is refused as such.
      const isOther = isSubscription && transport === 'HTTP';
      return answer.length < 1000 && (isOther || answer.includes('"code":"BAD_USER_INPUT"'));
    },
  })),
  {
    title: 'no rule takes longer over the longest text that is let through to it',
    length: 16_000,
    open: (url) => sendOverHttp(url),
    isAnswer: () => true,
  },
];

/** Sends the chosen texts to each place, and names those that took too long or were answered in another way than expected. */
export async function walk(
  gateway: GatewayProcess,
  { length, open, isAnswer }: Way,
  isChosen: (place: number, text: number) => boolean,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const send = await open(gateway.url);
  for (const [index, place] of places.entries()) {
    const chosen = hostileTexts(length).filter((_, text) => isChosen(index, text));
    for (const [name, text] of chosen) {
      const operation = { query: place.query, variables: place.variablesWith(text) };
      const { answer, ms } = await measure(gateway, send, operation);
      if (ms > maxMs) faults.push(`${place.name}, ${name}: ${Math.round(ms)} ms`);
      if (!isAnswer(answer, place)) faults.push(`${place.name}, ${name}: ${answer.slice(0, 300)}`);
    }
  }
  return faults;
}
