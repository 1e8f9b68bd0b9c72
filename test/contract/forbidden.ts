import type { Exchange } from './exchange.ts';
import type { ServiceDocument } from './service-document.ts';

/** A request that once succeeded, changed in one place so that the document forbids it. */
interface Variant {
  readonly asked: Exchange;
  /** What was changed, for the reader of a failed test. */
  readonly change: string;
}

type Change = readonly [change: string, value: unknown];

/** A value of another type than the one that fits. */
function spoil(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? 'wrong' : { wrong: true };
}

/** The object with one of its fields, at any depth, taken out or of another type. */
function changesOf(value: unknown): readonly Change[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, item]): readonly Change[] => {
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    return [
      [`without ${key}`, rest],
      [`${key} of another type`, { ...rest, [key]: spoil(item) }],
      [`${key} a word`, { ...rest, [key]: 'wrong' }],
      ...changesOf(item).map(([change, spoilt]): Change => [`${key}/${change}`, { ...rest, [key]: spoilt }]),
    ];
  });
}

function variantsOf(asked: Exchange): readonly Variant[] {
  const bodies = asked.sent instanceof FormData ? [] : changesOf(asked.sent);
  const queries = [...asked.query.keys()].flatMap((key): readonly (readonly [string, URLSearchParams])[] => {
    const [without, wrong] = [new URLSearchParams(asked.query), new URLSearchParams(asked.query)];
    without.delete(key);
    wrong.set(key, '-wrong-');
    return [
      [`without ?${key}`, without],
      [`?${key} a word`, wrong],
    ];
  });
  return [
    ...bodies.map(([change, sent]) => ({ change, asked: { ...asked, sent } })),
    ...queries.map(([change, query]) => ({ change, asked: { ...asked, query } })),
  ];
}

/** Changed once each: the last successful request of every operation, in all the ways that the document forbids. */
export function forbiddenVariants(
  exchanges: readonly Exchange[],
  document: ServiceDocument,
): readonly Variant[] {
  const succeeded = exchanges.filter(({ status }) => status < 300);
  const samples = new Map(succeeded.map((each) => [document.operationOf(each), each]));
  return [...samples.values()]
    .flatMap(variantsOf)
    .filter(({ asked }) => document.findRequestFaults(asked).some(({ rule }) => rule !== 'undeclared'));
}
