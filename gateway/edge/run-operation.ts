import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../metrics.ts';
import type { Basis } from '../upstream/basis.ts';
import { createExecute, type Execute, type JitMode } from './compiled.ts';
import { admit, type GuardOptions, type Operation } from './guards.ts';
import { type Mask, maskResult } from './mask.ts';
import { countOutcome, withTotals } from './observe.ts';

/**
 * Runs a query or mutation from its admission to its answer; refusals and failures are results, and nothing is thrown.
 * @param basis of the context that it was made with, where that notes what the answer rests on
 */
export type RunOperation = (args: ExecutionArgs, basis?: Basis) => Promise<ExecutionResult>;

export interface RunOperationOptions {
  readonly guards: GuardOptions;
  readonly metrics: Metrics;
  readonly mask: Mask;
  readonly jit: JitMode;
}

/** Queries and mutations, the same in every lane and over sockets: guarded, paid for, masked, counted. */
export function createRunOperation({ guards, metrics, mask, jit }: RunOperationOptions): RunOperation {
  const options = { ...guards, mask, execute: createExecute(jit) };
  return async (args, basis) => {
    // The context of every operation is made by contexts.ts, and kept as it is by Envelop.
    const context = args.contextValue as Operation;
    const result = await run(options, { ...args, contextValue: context }, basis);
    // Masked before it is counted: what counts is the code that the client reads.
    const masked = maskResult(mask, result);
    countOutcome(metrics, masked, basis);
    return withTotals(masked, context);
  };
}

async function run(
  options: GuardOptions & { readonly mask: Mask; readonly execute: Execute },
  args: ExecutionArgs & { readonly contextValue: Operation },
  basis: Basis | undefined,
): Promise<ExecutionResult> {
  const admission = await admit(options, args, basis);
  if ('errors' in admission) return admission;
  try {
    return await options.execute(args, admission);
  } catch (error) {
    return { errors: [options.mask(error)] };
  } finally {
    admission.settle();
  }
}

/** What comes to Yoga's own handler, and over sockets, runs here as well. */
export function useRunOperation(runOperation: RunOperation): Plugin {
  return { onExecute: ({ setExecuteFn }) => setExecuteFn((args: ExecutionArgs) => runOperation(args)) };
}
