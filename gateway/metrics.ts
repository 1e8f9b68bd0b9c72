import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createDeliveryMetrics, type DeliveryMetrics } from './events/delivery-metrics.ts';

/**
 * What the gateway counts, the same as in docs/operations.md (tested). Labels are closed sets or route names: never
 * an id, never a person.
 */
export interface Metrics extends DeliveryMetrics {
  readonly upstreamCalls: Counter<'operation' | 'outcome'>;
  readonly upstreamShared: Counter<'operation'>;
  readonly readCache: Counter<'outcome'>;
  readonly upstreamSeconds: Histogram<'operation'>;
  readonly operations: Counter<'outcome'>;
  readonly wholeAnswers: Counter<'outcome'>;
  readonly unlistedOperations: Counter;
  readonly auditRecords: Counter<'outcome'>;
  readonly connectionsCut: Counter<'reason'>;
  /** Shows whether the audit trail can be written, looked at each time that metrics are read; null = none is kept. */
  readonly watchAuditTrail: (isWritable: () => boolean | null) => void;
  /** Counts a value that the service sent for an open enum field and the graph does not know. */
  readonly countUnknown: (field: string, value: string) => void;
  /** Counts rows that a reader left out, or an answer that it refused, by the path of where they stood. */
  readonly countUnreadable: (operation: string, path: string, rows: number) => void;
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
      help: 'Reads that joined an equal read in flight.',
      labelNames: ['operation'],
      registers,
    }),
    readCache: new Counter({
      name: 'labgraph_read_cache_total',
      help: 'Reads by their outcome in the cache, and entries dropped before their time.',
      labelNames: ['outcome'],
      registers,
    }),
    upstreamSeconds: new Histogram({
      name: 'labgraph_upstream_seconds',
      help: 'Time from a call to the service until its whole answer, retries included.',
      labelNames: ['operation'],
      registers,
    }),
    operations: new Counter({
      name: 'labgraph_operations_total',
      help: 'GraphQL operations by outcome: ok, or the code of the first error.',
      labelNames: ['outcome'],
      registers,
    }),
    wholeAnswers: new Counter({
      name: 'labgraph_whole_answers_total',
      help: 'Queries by their outcome in the cache of whole answers, and evicted answers.',
      labelNames: ['outcome'],
      registers,
    }),
    unlistedOperations: new Counter({
      name: 'labgraph_unlisted_operations_total',
      help: 'Operations of viewers whose documents are not trusted (PERSISTED_OPERATIONS).',
      registers,
    }),
    auditRecords: new Counter({
      name: 'labgraph_audit_records_total',
      help: 'Accesses to the data of users by the outcome of their lines in the audit trail.',
      labelNames: ['outcome'],
      registers,
    }),
    connectionsCut: new Counter({
      name: 'labgraph_connections_cut_total',
      help: 'Connections reset because their clients did not read or pipelined too many requests, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    watchAuditTrail: (isWritable) => {
      new Gauge({
        name: 'labgraph_audit_trail_writable',
        help: 'Whether the last write of the audit trail succeeded: 1 or 0.',
        registers,
        collect() {
          const answer = isWritable();
          if (answer !== null) this.set(answer ? 1 : 0);
        },
      });
    },
    ...createDeliveryMetrics(registers),
    ...createDrift(registers),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Pairs of labels that are told apart; more are counted under `other`. */
const maxPairs = 200;

/** What the service sends and the gateway does not know. */
function createDrift(registers: Registry[]): Pick<Metrics, 'countUnknown' | 'countUnreadable'> {
  const unknown = new Counter({
    name: 'unknown_enum_total',
    help: 'Operations that showed a value unknown to the graph, by field.',
    labelNames: ['field', 'value'],
    registers,
  });
  const unreadable = new Counter({
    name: 'unreadable_total',
    help: 'Rows left out, and answers refused, because they could not be read.',
    labelNames: ['operation', 'path'],
    registers,
  });
  const limitValue = limitPairs();
  const limitPath = limitPairs();
  return {
    countUnknown: (field, value) => unknown.inc({ field, value: limitValue(field, toLabel(field, value)) }),
    countUnreadable: (operation, path, rows) =>
      unreadable.inc({ operation, path: limitPath(operation, path) }, rows),
  };
}

/** What a person may have typed is told as `other`: their own words, and anything that does not look like a code. */
function toLabel(field: string, value: string): string {
  const code = value.toLowerCase().slice(0, 40);
  return !/^(Demographics|PatientDetails)\./.test(field) && /^[a-z][a-z0-9_.-]*$/.test(code) ? code : 'other';
}

function limitPairs(): (first: string, second: string) => string {
  const pairs = new Set<string>();
  return (first, second) => {
    const pair = `${first} ${second}`;
    if (pairs.has(pair)) return second;
    if (pairs.size >= maxPairs) return 'other';
    pairs.add(pair);
    return second;
  };
}
