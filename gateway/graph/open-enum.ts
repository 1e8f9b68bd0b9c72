import { builder, type Fields } from './builder.ts';

/**
 * A GraphQL enum over values that the service may extend at any time. `openEnumFields` shows it as a pair: `x`, null
 * when the value is not one of these, and `xRaw`, the text as sent.
 */
export interface OpenEnum<Value extends string> {
  readonly ref: ReturnType<
    typeof builder.enumType<string, Readonly<Record<Value, { readonly description: string }>>>
  >;
  /** The known value of a text of the service, or null. */
  readonly known: (raw: string | null) => Value | null;
}

/**
 * @param about the description, and in `saysNothing` the declared values of the service without information: they are
 * shown as null and do not count as drift (graph/drift.ts)
 */
export function openEnum<Value extends string>(
  name: string,
  about: string | { readonly description: string; readonly saysNothing: readonly string[] },
  values: Readonly<Record<Value, string>>,
): OpenEnum<Value> {
  const { description, saysNothing } =
    typeof about === 'string' ? { description: about, saysNothing: [] } : about;
  const described = Object.fromEntries(
    Object.entries<string>(values).map(([value, text]) => [value, { description: text }]),
  ) as Record<Value, { readonly description: string }>;
  const ref = builder.enumType(name, { description, values: described, extensions: { saysNothing } });
  const isKnown = (value: string): value is Value => Object.hasOwn(values, value);
  return {
    ref,
    known: (raw) => {
      const upper = raw?.toUpperCase() ?? '';
      return isKnown(upper) ? upper : null;
    },
  };
}

interface Pair<Name extends string> {
  readonly name: Name;
  /** The description of the field `name`. */
  readonly description: string;
  /** The description of the field `nameRaw`. */
  readonly raw: string;
  /** Whether the parent always has a text: then `nameRaw` is not nullable. */
  readonly isRequired?: boolean;
}

interface PairWithRead<Parent> extends Pair<string> {
  /** Finds the text of the service, for a parent that has no property of that name. */
  readonly read: (parent: Parent) => string | null;
}

/** The fields that show an open enum: `x`, null when the value is not one of the enum, and `xRaw`, the text as sent. */
export function openEnumFields<Name extends string, Parent extends Readonly<Record<Name, string | null>>>(
  t: Fields<Parent>,
  values: OpenEnum<string>,
  pair: Pair<Name>,
): ReturnType<typeof definePair<Parent>>;
export function openEnumFields<Parent>(
  t: Fields<Parent>,
  values: OpenEnum<string>,
  pair: PairWithRead<Parent>,
): ReturnType<typeof definePair<Parent>>;
export function openEnumFields<Parent extends Readonly<Record<string, string | null>>>(
  t: Fields<Parent>,
  values: OpenEnum<string>,
  pair: Pair<string> & Partial<PairWithRead<Parent>>,
) {
  return definePair(t, values, { read: (parent) => parent[pair.name] ?? null, ...pair });
}

function definePair<Parent>(t: Fields<Parent>, values: OpenEnum<string>, pair: PairWithRead<Parent>) {
  const { name, description, raw, isRequired = false, read } = pair;
  return {
    [name]: t.field({
      type: values.ref,
      description,
      resolve: (parent) => values.known(read(parent)),
    }),
    [`${name}Raw`]: t.string({ nullable: !isRequired, description: raw, resolve: read }),
  };
}
