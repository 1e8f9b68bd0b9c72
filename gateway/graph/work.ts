import {
  defaultFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { GraphContext } from './context.ts';

/** What the execution of one operation costs the processor, and its turns among others (edge/scheduler.ts). */
export interface Work {
  /** Fields executed so far; long texts, rows and errors count more. */
  readonly weight: number;
  readonly add: (weight: number) => void;
  /** Whether the operation has used up its time slice and must wait for its next turn. */
  readonly isDue: () => boolean;
  /** Resolves when the operation may go on. Of one that was refused it never does. */
  readonly nextTurn: () => Promise<void>;
  /** Runs something when no field of the operation waits for a turn. */
  readonly whenIdle: (run: () => void) => void;
  /**
   * Executes the operation, or one item of a subscription.
   * @throws GatewayError QUERY_TOO_COSTLY when it weighs too much, RATE_LIMITED when its caller has too many under way
   */
  readonly run: <Result>(execute: () => Promise<Result>) => Promise<Result>;
}

/** A text this long takes about as long to write as a number; longer ones count as several. */
const charactersPerField = 64;
/** An error is located, masked and written with its path. */
const weightOfError = 20;

type Resolve = (parent: unknown, args: unknown, context: GraphContext, info: GraphQLResolveInfo) => unknown;

/** The fields of introspection are the library's own, the same in every schema of a process. */
const metered = new WeakSet<object>();

/**
 * Makes every field, those of introspection too, count in the `work` of its operation. Once that has used up its time slice, lists of objects and
 * objects that were loaded wait for a turn before their fields are executed; a single object at hand is not worth the promise. Resolvers are
 * called at once all the same, so that loaders batch as ever.
 */
export function meterFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (metered.has(field)) continue;
      metered.add(field);
      const resolve: Resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = isLeafType(getNamedType(field.type)) ? meterLeaf(resolve) : meterParent(resolve);
    }
  }
  return schema;
}

function meterLeaf(resolve: Resolve): Resolve {
  return (parent, args, context, info) => {
    const { work } = context;
    try {
      const value = resolve(parent, args, context, info);
      if (isPromise(value)) return weighLater(work, value, weighValue);
      work.add(weighValue(value));
      return value;
    } catch (error) {
      work.add(weightOfError);
      throw error;
    }
  };
}

function meterParent(resolve: Resolve): Resolve {
  return (parent, args, context, info) => {
    const { work } = context;
    try {
      const value = resolve(parent, args, context, info);
      if (isPromise(value)) return waitForTurn(work, weighLater(work, value, weighRows));
      work.add(weighRows(value));
      return Array.isArray(value) && work.isDue() ? work.nextTurn().then(() => value) : value;
    } catch (error) {
      work.add(weightOfError);
      throw error;
    }
  };
}

async function weighLater(
  work: Work,
  value: PromiseLike<unknown>,
  weigh: (value: unknown) => number,
): Promise<unknown> {
  try {
    const settled = await value;
    work.add(weigh(settled));
    return settled;
  } catch (error) {
    work.add(weightOfError);
    throw error;
  }
}

async function waitForTurn(work: Work, value: Promise<unknown>): Promise<unknown> {
  const settled = await value;
  if (work.isDue()) await work.nextTurn();
  return settled;
}

/** The rows count, because `__typename`, which no resolver of ours sees, may be all that is asked of them. */
function weighRows(value: unknown): number {
  return Array.isArray(value) ? 1 + value.length : 1;
}

/** JSON and lists of scalars count with all that is in them. */
function weighValue(value: unknown): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / charactersPerField);
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const part of Object.values(value)) weight += weighValue(part);
  return weight;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
