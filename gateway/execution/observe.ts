import type { ExecutionResult } from 'graphql';
import type { GraphContext } from '../graph/context.ts';
import type { Metrics } from '../metrics.ts';
import type { Dependencies } from '../service/trace.ts';
import { readStreamItem } from './stream-items.ts';

/** What streams travel over. */
export type Transport = 'sse' | 'websocket';

/** Counts an operation by its outcome: `ok`, or the code of the first error; and each other one that is given its answer. */
export function countOutcome(metrics: Metrics, result: unknown, dependencies?: Dependencies): void {
  const outcome = outcomeOf(result);
  const count = () => metrics.operations.inc({ outcome });
  count();
  dependencies?.addReport('outcome', count);
}

function outcomeOf(result: unknown): string {
  if (typeof result !== 'object' || result === null || !('errors' in result)) return 'ok';
  const [first] = Array.isArray(result.errors) ? result.errors : [];
  const code: unknown = first?.extensions?.code;
  return typeof code === 'string' ? code : 'INTERNAL';
}

/** Told of each result of a stream just before it is sent. */
export function observeSend(metrics: Metrics, transport: Transport, result: object): void {
  const waitingSince = readStreamItem(result)?.waitingSince ?? null;
  if (waitingSince === null) return;
  metrics.followLagSeconds.observe({ transport }, Math.max(0, Date.now() - waitingSince.getTime()) / 1000);
}

/** Adds what the operation has asked of the service so far, where its caller wants to know. */
export function withTotals(
  result: ExecutionResult,
  { isTraced, upstreamTotals }: GraphContext,
): ExecutionResult {
  if (!isTraced) return result;
  return { ...result, extensions: { ...result.extensions, upstream: upstreamTotals() } };
}
