import type { ExecutionResult, ValidatedSubscriptionArgs } from 'graphql';
import { LRUCache } from 'lru-cache';
import { type Rights, rightsKeyOf } from '../auth/rights.ts';
import type { GraphContext } from '../graph/context.ts';

/** The newest items of live streams. A stream that is further behind executes by itself. */
const maxItems = 100;
/** The results of one item, for streams that ask for different things. */
const maxResults = 20;

/** Null where the result is for its stream only. */
type Shared = Promise<ExecutionResult | null>;

const resultsOfItems = new LRUCache<object, Map<string, Shared>>({ max: maxItems });

/** One item of a stream. `rootValue` is the same object for all streams whose items are equal. */
export interface ItemArgs extends ValidatedSubscriptionArgs {
  readonly rootValue: object;
  readonly contextValue: GraphContext;
}

/**
 * Executes an item once for all streams with equal keys, and gives them the same result. Sharing is denied by default: a
 * result is shared only if its execution used nothing but the item, the document, the variables and the rights of the
 * caller, and has no errors. Reads, the audit trail and every other member of the context belong to one stream.
 */
export async function shareResult<Result extends ExecutionResult>(
  item: ItemArgs,
  key: string,
  execute: (item: ItemArgs) => Promise<Result>,
): Promise<ExecutionResult> {
  const results = resultsOfItems.get(item.rootValue) ?? new Map<string, Shared>();
  const known = results.get(key);
  if (known !== undefined) return (await known) ?? (await execute(item));
  if (results.size >= maxResults) return await execute(item);
  const { promise, resolve } = Promise.withResolvers<ExecutionResult | null>();
  resultsOfItems.set(item.rootValue, results.set(key, promise));
  try {
    const contextValue = watchUse(item.contextValue, () => resolve(null));
    const result = await execute({ ...item, contextValue });
    resolve(result.errors === undefined ? result : null);
    return result;
  } catch (error) {
    resolve(null);
    throw error;
  }
}

const documentIds = new WeakMap<object, number>();
let documents = 0;

/** Streams with equal keys get equal results of equal items: they have one document, variables and rights. */
export function shareKey({ document, operation, rawVariableValues, contextValue }: ItemArgs): string {
  const id = documentIds.get(document) ?? ++documents;
  documentIds.set(document, id);
  const given = rawVariableValues ?? {};
  // A variable that is left out differs from null. The document decides their order.
  const variables = (operation.variableDefinitions ?? []).flatMap(({ variable: { name } }) =>
    Object.hasOwn(given, name.value) ? [[name.value, given[name.value]]] : [],
  );
  const { caller } = contextValue.service.rights;
  return JSON.stringify([id, operation.name?.value, variables, rightsKeyOf(caller)]);
}

/** The same context, which reports each use of what may differ between streams with equal keys. */
function watchUse(context: GraphContext, onUse: () => void): GraphContext {
  const { service, work, isTraced } = context;
  const rights: Rights = Object.create(service.rights, {
    onAccess: {
      get: () => {
        onUse();
        return service.rights.onAccess;
      },
    },
  });
  return watch(context, { service: watch(service, { rights }, onUse), work, isTraced }, onUse);
}

/** The same object, which reports each use of a member that is not in `free`. */
function watch<Part extends object>(part: Part, free: Readonly<Partial<Part>>, onUse: () => void): Part {
  return new Proxy(part, {
    get: (target, name) => {
      if (Object.hasOwn(free, name)) return Reflect.get(free, name);
      onUse();
      const member = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
