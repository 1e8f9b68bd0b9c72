import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createDeliveryMetrics } from './events/delivery-metrics.ts';
import { PlainCounter, PlainHistogram } from './telemetry/plain-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

let processRegistry: Registry | null = null;

/** The metrics of the process, measured once for all its gateways: prom-client has no way to stop measuring. */
function measureProcess(): Registry {
  if (processRegistry !== null) return processRegistry;
  processRegistry = new Registry();
  collectDefaultMetrics({ register: processRegistry });
  return processRegistry;
}

/**
 * The metrics of one gateway, described in docs/operations.md (tested). They have a registry of their own, so that
 * several gateways can run in one process. Labels are closed sets or route names, and never contain an id or a person.
 */
export function createMetrics() {
  const ofProcess = measureProcess();
  const registry = new Registry();
  const registers = [registry];
  return {
    ...createServiceMetrics(registers),
    ...createOperationMetrics(registers),
    ...createDeliveryMetrics(registers),
    ...createDrift(registers),
    ...createAuditMetrics(registers),
    ...createBuildInfo(registers),
    /** All metrics in the Prometheus text format. */
    text: async () => (await Promise.all([ofProcess.metrics(), registry.metrics()])).join('\n'),
    contentType: registry.contentType,
  } as const;
}

const { version } = readPackage();

function readPackage(): { readonly version: string } {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
}

function createBuildInfo(registers: Registry[]) {
  const info = new Gauge({
    name: 'labgraph_build_info',
    help: 'Always 1; the label is the version of the gateway.',
    labelNames: ['version'],
    registers,
  });
  info.set({ version }, 1);
  return {};
}

function createServiceMetrics(registers: Registry[]) {
  return {
    upstreamCalls: new PlainCounter({
      name: 'labgraph_upstream_calls_total',
      help: 'Calls to the service by operation and outcome.',
      labelNames: ['operation', 'outcome'],
      registers,
    }),
    upstreamShared: new PlainCounter({
      name: 'labgraph_upstream_shared_total',
      help: 'Reads that joined an equal read in flight.',
      labelNames: ['operation'],
      registers,
    }),
    readCache: new PlainCounter({
      name: 'labgraph_read_cache_total',
      help: 'Reads by their outcome in the cache, and entries dropped before their time.',
      labelNames: ['outcome'],
      registers,
    }),
    upstreamSeconds: new PlainHistogram({
      name: 'labgraph_upstream_seconds',
      help: 'Time from a call to the service until its whole answer, retries included.',
      labelNames: ['operation'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

function createOperationMetrics(registers: Registry[]) {
  const seconds = new PlainHistogram({
    name: 'labgraph_operation_seconds',
    help: 'Time of GraphQL operations by type and name of the trusted document; of a subscription until it is open.',
    labelNames: ['type', 'name'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  const limitName = limitPairs();
  const operations = new PlainCounter({
    name: 'labgraph_operations_total',
    help: 'GraphQL operations by outcome: ok, or the code of the first error; a subscription when it opens, and each of its results with an error.',
    labelNames: ['outcome'],
    registers,
  });
  // An alert asks how much it has grown.
  operations.inc({ outcome: 'INTERNAL' }, 0);
  return {
    /** @param name of the operation in a trusted document; null for any other, because clients choose their names */
    observeOperation: (type: string, name: string | null, elapsedSeconds: number) =>
      seconds.observe({ type, name: name === null ? 'other' : limitName(type, name) }, elapsedSeconds),
    waitingOperations: new Gauge({
      name: 'labgraph_operations_waiting',
      help: 'GraphQL operations that begin when a connection to the service is free, or after 0.5 s.',
      registers,
    }),
    sockets: new Gauge({ name: 'labgraph_sockets', help: 'Open WebSockets.', registers }),
    operations,
    wholeAnswers: new PlainCounter({
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
    /** Adds whether the audit trail can be written, determined each time that metrics are read. */
    watchAuditTrail: (isWritable: () => boolean) => {
      new Gauge({
        name: 'labgraph_audit_trail_writable',
        help: 'Whether the last write of the audit trail succeeded: 1 or 0; absent without a trail.',
        registers,
        collect() {
          this.set(isWritable() ? 1 : 0);
        },
      });
    },
  };
}

/** The most pairs of labels with counts of their own. All further pairs are counted under `other`. */
const maxPairs = 200;

/** The names without a prefix were published first and stay until 2027-05-31. */
const prefixes = ['labgraph_', ''] as const;

/** Counts of values and rows of the service that the gateway does not know. */
function createDrift(registers: Registry[]) {
  const unknown = prefixes.map(
    (prefix) =>
      new Counter({
        name: `${prefix}unknown_enum_total`,
        help: 'Operations that showed a value unknown to the graph, by field.',
        labelNames: ['field', 'value'],
        registers,
      }),
  );
  const unreadable = prefixes.map(
    (prefix) =>
      new Counter({
        name: `${prefix}unreadable_total`,
        help: 'Rows left out, and answers refused, because they could not be read; facts left out because they were too large.',
        labelNames: ['operation', 'path'],
        registers,
      }),
  );
  const limitValue = limitPairs();
  const limitPath = limitPairs();
  return {
    /** Counts a value that the service sent for an open enum field and the graph does not know. */
    countUnknown: (field: string, value: string) => {
      const labels = { field, value: limitValue(field, toLabel(field, value)) };
      for (const counter of unknown) counter.inc(labels);
    },
    /** Counts rows that a reader left out, or an answer that it refused, by their path. */
    countUnreadable: (operation: string, path: string, rows: number) => {
      const labels = { operation, path: limitPath(operation, path) };
      for (const counter of unreadable) counter.inc(labels, rows);
    },
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
