import { type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { GatewayError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Dependencies } from '../service/trace.ts';
import { admit, type GuardOptions, type OperationArgs, toOperationArgs } from './guards.ts';
import { type Mask, maskResult } from './mask.ts';
import { countOutcome, withTotals } from './observe.ts';

/**
 * Runs a query or mutation from its admission to its answer; refusals and failures are results, and nothing is thrown.
 * @param dependencies of the context that it was made with, where that notes what the answer depends on
 */
export type RunOperation = (args: OperationArgs, dependencies?: Dependencies) => Promise<ExecutionResult>;

export interface RunOperationOptions {
  readonly guards: GuardOptions;
  readonly metrics: Metrics;
  readonly mask: Mask;
}

/** Queries and mutations on every transport: guarded, charged, masked, counted. */
export function createRunOperation({ guards, metrics, mask }: RunOperationOptions): RunOperation {
  const options = { ...guards, mask };
  const tell = (
    result: ExecutionResult,
    { contextValue }: OperationArgs,
    dependencies: Dependencies | undefined,
  ) => {
    // Masked before it is counted: what counts is the code that the client reads.
    const masked = maskResult(mask, result);
    countOutcome(metrics, masked, dependencies);
    return withTotals(masked, contextValue);
  };
  // In one layer: each more is a promise, and what hangs on it, for every operation.
  return async (args, dependencies) => {
    const admission = await admit(options, args, dependencies);
    if ('errors' in admission) return tell(admission, args, dependencies);
    let result: ExecutionResult;
    try {
      result = await args.contextValue.work.run(async () => await execute(args));
    } catch (error) {
      const isCut = admission.isMutation && error instanceof GatewayError;
      // Only the answer was abandoned; the write may have been done.
      result = { errors: [mask(isCut ? error.withOutcome(true) : error)] };
    }
    admission.settle();
    return tell(result, args, dependencies);
  };
}

/** What comes to Yoga's own handler, and over sockets, runs here as well. */
export function useRunOperation(runOperation: RunOperation): Plugin {
  const run = (args: ExecutionArgs) => runOperation(toOperationArgs(args));
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(run) };
}
