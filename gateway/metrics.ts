import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the gateway counts. Labels are closed sets or route names: never an id, never a person. */
export interface Metrics {
  readonly upstreamCalls: Counter<'operation' | 'outcome'>;
  readonly upstreamShared: Counter<'operation'>;
  readonly upstreamSeconds: Histogram<'operation'>;
  readonly webhooks: Counter<'outcome'>;
  readonly appendSeconds: Histogram;
  readonly subscriptions: Gauge;
  readonly operations: Counter<'outcome'>;
  /** All of it in the Prometheus text format. */
  readonly text: () => Promise<string>;
  readonly contentType: string;
}

/** A registry of its own per gateway, so that several can live in one process (tests do). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    upstreamCalls: new Counter({
      name: 'labgraph_upstream_calls_total',
      help: 'Calls to the service by operation and outcome.',
      labelNames: ['operation', 'outcome'],
      registers,
    }),
    upstreamShared: new Counter({
      name: 'labgraph_upstream_shared_total',
      help: 'Reads answered by an equal read already under way.',
      labelNames: ['operation'],
      registers,
    }),
    upstreamSeconds: new Histogram({
      name: 'labgraph_upstream_seconds',
      help: 'Time from asking the service to its whole answer, retries included.',
      labelNames: ['operation'],
      registers,
    }),
    webhooks: new Counter({
      name: 'labgraph_webhooks_total',
      help: 'Webhooks by what became of them.',
      labelNames: ['outcome'],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'labgraph_event_append_seconds',
      help: 'Time to make an event durable.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
      registers,
    }),
    subscriptions: new Gauge({
      name: 'labgraph_subscriptions',
      help: 'Open subscriptions.',
      registers,
    }),
    operations: new Counter({
      name: 'labgraph_operations_total',
      help: 'GraphQL operations by outcome: ok, or the code of the first error.',
      labelNames: ['outcome'],
      registers,
    }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
