import { builder } from './builder.ts';

/**
 * A GraphQL enum over values that the service may extend at any time. It is always shown as a pair: `x`, null
 * when the value is not one of these, and `xRaw`, the text as sent.
 */
export interface OpenEnum<Value extends string> {
  readonly ref: ReturnType<
    typeof builder.enumType<string, Readonly<Record<Value, { readonly description: string }>>>
  >;
  /** The known value that a text of the service stands for, or null. */
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
