import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';

/**
 * The cost of one expected call to the service (execution/run-operation.ts); a plain field costs 1. A field that calls the
 * service once for each of its rows has this cost for each.
 */
export const upstreamCallCost = 100;

/** How many calls a field at the root is expected to make if it does not declare its cost. */
const callsOfRoot: Readonly<Record<string, number>> = {
  Query: 1,
  // It reads its subject, writes, and reads the outcome.
  Mutation: 3,
  Subscription: 1,
};

/** The cost of a field that declares none. */
export function usualCost(_args: unknown, _context: unknown, { parentType }: GraphQLField) {
  const calls = callsOfRoot[parentType?.name ?? ''];
  return { field: calls === undefined ? 1 : calls * upstreamCallCost, multiplier: 1 };
}

/** The processor cost of one operation, and its turns among other operations (execution/scheduler.ts). */
export interface Work {
  /** Fields executed so far; long texts, rows and errors count more. */
  readonly weight: number;
  readonly add: (weight: number) => void;
  /** Whether the operation has used up its time slice and must wait for its next turn. */
  readonly isDue: () => boolean;
  /** Resolves when the operation may continue; never for a refused operation. */
  readonly nextTurn: () => Promise<void>;
  /** Calls `run` when no field of the operation waits for a turn. */
  readonly whenIdle: (run: () => void) => void;
  /**
   * Executes the operation, or one item of a subscription.
   * @throws GatewayError QUERY_TOO_COSTLY when its weight is too large, RATE_LIMITED when its caller has too many heavy ones
   */
  readonly run: <Result>(execute: () => Promise<Result>) => Promise<Result>;
}

/** Writing a text of this length takes about as long as writing a number; longer texts count as several fields. */
const charactersPerField = 64;
/** An error costs more than a field: it is located, masked and written with its path. */
const weightOfError = 20;

/** The context of an operation, as far as its cost is counted. */
interface Working {
  readonly work: Work;
}

type Resolve = (
  parent: unknown,
  args: unknown,
  context: Working | undefined,
  info: GraphQLResolveInfo,
) => unknown;

/** Fields metered already: introspection fields are shared by every schema of a process. */
const metered = new WeakSet<object>();

/**
 * Makes every field, including introspection, add to the `work` of its operation. When the operation has used up its slice,
 * lists of objects and loaded objects wait for a turn before their fields are executed; for a single object at hand the
 * promise would cost more. Resolvers are still called at once, so that loaders batch as usual.
 */
export function meterFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (metered.has(field)) continue;
      metered.add(field);
      const resolve: Resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = meter(resolve, isLeafType(getNamedType(field.type)));
    }
  }
  return schema;
}

function meter(resolve: Resolve, isLeaf: boolean): Resolve {
  return (parent, args, context, info) => {
    // Tools introspect other schemas in the same process, without any context.
    if (context === undefined) return resolve(parent, args, context, info);
    const { work } = context;
    try {
      const value = resolve(parent, args, context, info);
      if (isPromise(value)) return weighLater(work, value, isLeaf);
      work.add(isLeaf ? weighValue(value) : weighRows(value));
      return !isLeaf && Array.isArray(value) && work.isDue() ? work.nextTurn().then(() => value) : value;
    } catch (error) {
      work.add(weightOfError);
      throw error;
    }
  };
}

async function weighLater(work: Work, value: PromiseLike<unknown>, isLeaf: boolean): Promise<unknown> {
  let settled: unknown;
  try {
    settled = await value;
  } catch (error) {
    work.add(weightOfError);
    throw error;
  }
  work.add(isLeaf ? weighValue(settled) : weighRows(settled));
  if (!isLeaf && work.isDue()) await work.nextTurn();
  return settled;
}

/** Rows count too, because a query may ask them only for `__typename`, which has no resolver of ours. */
function weighRows(value: unknown): number {
  return Array.isArray(value) ? 1 + value.length : 1;
}

/** JSON and lists of scalars count every value in them. */
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
