import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createDeliveryMetrics } from './events/delivery-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of one gateway, described in docs/operations.md (tested). They have a registry of their own, so that
 * several gateways can run in one process. Labels are closed sets or route names, and never contain an id or a person.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    ...createServiceMetrics(registers),
    ...createOperationMetrics(registers),
    ...createDeliveryMetrics(registers),
    ...createDrift(registers),
    ...createAuditMetrics(registers),
    /** All metrics in the Prometheus text format. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  } as const;
}

function createServiceMetrics(registers: Registry[]) {
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
  };
}

function createOperationMetrics(registers: Registry[]) {
  return {
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
    connectionsCut: new Counter({
      name: 'labgraph_connections_cut_total',
      help: 'Connections reset because their clients did not read or pipelined too many requests, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

function createAuditMetrics(registers: Registry[]) {
  return {
    auditRecords: new Counter({
      name: 'labgraph_audit_records_total',
      help: 'Accesses to the data of users by the outcome of their lines in the audit trail.',
      labelNames: ['outcome'],
      registers,
    }),
    /**
     * Adds whether the audit trail can be written, determined each time that metrics are read; null = there is no
     * trail.
     */
    watchAuditTrail: (isWritable: () => boolean | null) => {
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
  };
}

/** The most pairs of labels with counts of their own. All further pairs are counted under `other`. */
const maxPairs = 200;

/** Counts of values and rows of the service that the gateway does not know. */
function createDrift(registers: Registry[]) {
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
    /** Counts a value that the service sent for an open enum field and the graph does not know. */
    countUnknown: (field: string, value: string) =>
      unknown.inc({ field, value: limitValue(field, toLabel(field, value)) }),
    /** Counts rows that a reader left out, or an answer that it refused, by their path. */
    countUnreadable: (operation: string, path: string, rows: number) =>
      unreadable.inc({ operation, path: limitPath(operation, path) }, rows),
  };
}

/** `other` for a text that a person may have typed, and for anything that does not look like a code. */
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
