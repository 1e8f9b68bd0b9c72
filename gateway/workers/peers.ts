import process from 'node:process';
import type { MetricsSnapshot, Peers } from '../metrics.ts';
import type { Order, Report } from './messages.ts';

/** The workers of one address, asked through their primary. */
export function createPeers(number: number): Peers {
  const awaited = new Map<number, (answers: readonly MetricsSnapshot[]) => void>();
  let asked = 0;
  let readOwn = async (): Promise<MetricsSnapshot> => [];
  const tell = (report: Report) => process.send?.(report);

  process.on('message', async (order: Order) => {
    if (order.kind === 'tell-metrics')
      tell({ kind: 'metrics', asking: order.asking, answer: await readOwn() });
    if (order.kind !== 'metrics-of-all') return;
    // What comes here was made by `readOwn` in a worker of the same code.
    awaited.get(order.asking)?.(order.answers as readonly MetricsSnapshot[]);
    awaited.delete(order.asking);
  });
  return {
    number,
    answerWith: (read) => {
      readOwn = read;
    },
    gather: async () => {
      asked += 1;
      const asking = asked;
      const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>();
      awaited.set(asking, resolve);
      tell({ kind: 'ask-metrics', asking });
      return await promise;
    },
  };
}
