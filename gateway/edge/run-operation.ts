import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../metrics.ts';
import { createExecute, type Execute, type JitMode } from './compiled.ts';
import { admit, type GuardOptions, type Operation } from './guards.ts';
import { type Mask, maskResult } from './mask.ts';
import { countOutcome, withTotals } from './observe.ts';

/** Runs a query or mutation from its admission to its answer; refusals and failures are results, and nothing is thrown. */
export type RunOperation = (args: ExecutionArgs) => Promise<ExecutionResult>;

export interface RunOperationOptions {
  readonly guards: GuardOptions;
  readonly metrics: Metrics;
  readonly mask: Mask;
  readonly jit: JitMode;
}

/** Queries and mutations, the same in every lane and over sockets: guarded, paid for, masked, counted. */
export function createRunOperation({ guards, metrics, mask, jit }: RunOperationOptions): RunOperation {
  const options = { ...guards, mask, execute: createExecute(jit) };
  return async (args) => {
    // The context of every operation is made by contexts.ts, and kept as it is by Envelop.
    const context = args.contextValue as Operation;
    const result = await run(options, { ...args, contextValue: context });
    // Masked before it is counted: what counts is the code that the client reads.
    const masked = maskResult(mask, result);
    countOutcome(metrics, masked);
    return withTotals(masked, context);
  };
}

async function run(
  options: GuardOptions & { readonly mask: Mask; readonly execute: Execute },
  args: ExecutionArgs & { readonly contextValue: Operation },
): Promise<ExecutionResult> {
  const admission = await admit(options, args);
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
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(runOperation) };
}
