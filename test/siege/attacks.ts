import { Worker } from 'node:worker_threads';
import { sendNewlineDocuments } from './newline-documents.ts';
import { sendPartBombs } from './part-bombs.ts';
import { pipeline } from './pipelining.ts';
import { leaveUnread } from './unread-answers.ts';
import { floodWithUnfinished } from './webhook-starvation.ts';

/** The knowledge of an attacker: the address, and the token of a viewer with the default limits. */
export interface Assault {
  readonly url: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** What an attack did, by name. */
export type Counts = Readonly<Record<string, number>>;

/** Attacks until it is done or the signal aborts; one that is done is begun again. */
export type Attack = (assault: Assault) => Promise<Counts>;

const file = { path: '/widget/portal-widget.js' } as const;
const largeQuery = `{ orders(first: 50) { nodes {
  id createdAt status { raw label stage } events { id createdAt status { raw label stage } } } } }`;
const smallQuery = '{ viewer { kind } }';

/** As many as a connection may send ahead, and far more. */
const aheads = [30, 1000] as const;

/** The attacks by name. */
export const attacks: Readonly<Record<string, Attack>> = {
  'unread answers, anonymous': (assault) => leaveUnreadEach(assault, { connections: 50, ask: file }),
  'unread answers, with a token': (assault) =>
    leaveUnreadEach(assault, { connections: 40, ask: { query: largeQuery, token: assault.token } }),
  pipelining: async ({ url, token, signal }) => {
    const asks = [file, { query: smallQuery, token }];
    const reports = await Promise.all(
      asks.flatMap((ask) =>
        aheads.map((requests) => pipeline({ url, signal, connections: 20, requests, ask })),
      ),
    );
    return sum(reports);
  },
  'newline documents': (assault) => sendNewlineDocuments({ ...assault, connections: 8 }),
  'part bombs': async (assault) => {
    const reports = await Promise.all(
      Array.from({ length: 4 }, () => sendPartBombs({ ...assault, bytes: 31_000_000 })),
    );
    return sum(reports.flat().map(({ status, sentBytes }) => ({ [String(status)]: 1, sentBytes })));
  },
  'webhook starvation': (assault) => floodWithUnfinished({ ...assault, connections: 200 }).isOver,
  'heavy neighbour': ({ url, token, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Counts>();
    const worker = new Worker(new URL('./heavy-queries.ts', import.meta.url), {
      workerData: { url, token, connections: 16 },
    });
    worker.once('message', resolve).once('error', reject);
    signal.addEventListener('abort', () => worker.postMessage('end'), { once: true });
    return promise;
  },
};

type Unread = Pick<Parameters<typeof leaveUnread>[0], 'connections' | 'ask'>;

async function leaveUnreadEach({ url, signal }: Assault, unread: Unread): Promise<Counts> {
  const reports = await Promise.all(
    aheads.map((requests) => leaveUnread({ url, signal, requests, ...unread })),
  );
  return sum(reports.map(({ opened, closedByGateway }) => ({ opened, closedByGateway })));
}

/** Adds up equal names. */
export function sum(all: readonly object[]): Counts {
  const total: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + Number(count);
  }
  return total;
}
