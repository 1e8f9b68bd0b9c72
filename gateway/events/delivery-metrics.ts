import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Extent } from './log.ts';

/** In seconds, from delays that nobody notices to delays that everybody notices. */
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** Counts and times from the arrival of a webhook to the sending of its item. */
export function createDeliveryMetrics(registers: Registry[]) {
  const metrics = { ...createReceiptMetrics(registers), ...createSubscriberMetrics(registers) };
  // Alerts ask how much these have grown, and what appears as 1 has not grown for Prometheus.
  for (const outcome of ['stale', 'flooded', 'unavailable']) metrics.webhooks.inc({ outcome }, 0);
  for (const reason of ['unreadable', 'other-team']) metrics.deadLetters.inc({ reason }, 0);
  for (const reason of ['pruned', 'beyond-end', 'other-epoch', 'sealed']) metrics.resyncs.inc({ reason }, 0);
  return metrics;
}

function createReceiptMetrics(registers: Registry[]) {
  return {
    webhooks: new Counter({
      name: 'labgraph_webhooks_total',
      help: 'Webhooks by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    brokerMessages: new Counter({
      name: 'labgraph_broker_messages_total',
      help: 'Messages of a broker by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookLagSeconds: new Histogram({
      name: 'labgraph_webhook_lag_seconds',
      help: "From the sender's signing of a webhook to its acceptance; whole seconds on the sender's side.",
      buckets: [1, 2, 5, 10, 30, 60, 120, 300],
      registers,
    }),
    webhookClockOffset: new Gauge({
      name: 'labgraph_webhook_clock_offset_seconds',
      help: "How far the time of the newest signed webhook was behind this machine's clock; negative when ahead.",
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'labgraph_event_append_seconds',
      help: 'Time to make an event durable.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
      registers,
    }),
    deadLetters: new Counter({
      name: 'labgraph_dead_letters_total',
      help: 'Messages stored as dead letters, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    reconciled: new Counter({
      name: 'labgraph_reconciled_total',
      help: 'Changes whose webhook never arrived, found by comparing with the service.',
      registers,
    }),
    /** Shows whether the event log can be written, asked each time that metrics are read. */
    watchEventLog: (kind: string, isWritable: () => Promise<boolean>) => {
      new Gauge({
        name: 'labgraph_event_log_writable',
        help: 'Whether the event log can be written now: 1 or 0.',
        labelNames: ['kind'],
        registers,
        async collect() {
          this.set({ kind }, (await isWritable()) ? 1 : 0);
        },
      });
    },
  };
}

function createExtentMetrics(registers: Registry[]) {
  return (measure: () => Promise<Extent>) => {
    const oldest = new Gauge({
      name: 'labgraph_event_log_oldest_seconds',
      help: 'Age of the oldest event of the log; 0 for an empty log.',
      registers,
    });
    new Gauge({
      name: 'labgraph_event_log_bytes',
      help: 'Size of the event log: of its file, or of its stream in Redis.',
      registers,
      async collect() {
        // While the log cannot be read the last values stay; another metric shows that.
        const extent = await measure().catch(() => null);
        if (extent === null) return;
        this.set(extent.bytes);
        oldest.set(extent.oldestAt === null ? 0 : (Date.now() - extent.oldestAt.getTime()) / 1000);
      },
    });
  };
}

function createSubscriberMetrics(registers: Registry[]) {
  return {
    /** Shows the size and age of the event log, asked each time that metrics are read. */
    watchExtent: createExtentMetrics(registers),
    /** Shows how far the slowest stream is behind, asked each time that metrics are read. */
    watchCursors: (lagSeconds: () => number) => {
      new Gauge({
        name: 'labgraph_cursor_lag_seconds',
        help: 'Age of the oldest event that an open stream has read and its client has not taken; 0 without one.',
        registers,
        collect() {
          this.set(lagSeconds());
        },
      });
    },
    subscriptions: new Gauge({
      name: 'labgraph_subscriptions',
      help: 'Open subscriptions by transport.',
      labelNames: ['transport'],
      registers,
    }),
    followLagSeconds: new Histogram({
      name: 'labgraph_follow_lag_seconds',
      help: 'From the acceptance of a webhook to the sending of its item, for streams that were open by then.',
      labelNames: ['transport'],
      buckets: lagBuckets,
      registers,
    }),
    resyncs: new Counter({
      name: 'labgraph_resyncs_total',
      help: 'Streams that had to start again because their history was gone, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}
