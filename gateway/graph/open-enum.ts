import type { GraphQLResolveInfo } from 'graphql';
import { GatewayError } from '../errors.ts';
import { renamedTo } from './arguments.ts';
import { builder, type Fields, type InputFields } from './builder.ts';
import type { GraphContext } from './context.ts';
import type { InputIssue } from './user-error.ts';

/**
 * A GraphQL enum over values that the service may extend at any time. `openEnumFields` shows it as a pair: `x`, null
 * when the value is not one of these, and `xRaw`, the text as sent.
 */
export interface OpenEnum<Value extends string> {
  readonly ref: ReturnType<
    typeof builder.enumType<string, Readonly<Record<Value, { readonly description: string }>>>
  >;
  /** The known value of a text of the service, or null. Case does not matter; blanks and hyphens count as underscores. */
  readonly known: (raw: string | null) => Value | null;
  /** The same for the answer to an operation: a text that the enum does not know is reported. */
  readonly show: (raw: string | null, context: GraphContext, info: GraphQLResolveInfo) => Value | null;
}

/**
 * @param about the description, and in `saysNothing` the declared values of the service without information: they are
 * shown as null and are not reported
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
  const isKnown = (value: string): value is Value => Object.hasOwn(values, value);
  const known = (raw: string | null) => {
    const name = raw?.toUpperCase().replaceAll(/[\s-]/g, '_') ?? '';
    return isKnown(name) ? name : null;
  };
  const isSilent = (raw: string | null) => raw !== null && saysNothing.includes(raw.toLowerCase());
  return {
    ref: builder.enumType(name, { description, values: described }),
    known,
    show: (raw, context, info) => known(raw) ?? (isSilent(raw) ? null : reportUnknown(raw, context, info)),
  };
}

/** Reports a text of the service that the enum of this field does not know, and shows null in its place. */
export function reportUnknown(
  raw: string | null | undefined,
  context: GraphContext,
  { parentType, fieldName }: GraphQLResolveInfo,
): null {
  if (raw) context.onUnknown(`${parentType.name}.${fieldName}`, raw);
  return null;
}

interface Pair<Name extends string> {
  readonly name: Name;
  /** The description of the field `name`. */
  readonly description: string;
  /** The description of the field `nameRaw`. */
  readonly raw: string;
  /** Whether the parent always has a text: then `nameRaw` is not nullable. */
  readonly isRequired?: boolean;
  /** The name that the pair has now, where this is its older one. */
  readonly renamedTo?: string;
}

interface PairWithRead<Parent> extends Pair<string> {
  /** Finds the text of the service, for a parent that has no property of that name. */
  readonly read: (parent: Parent) => string | null;
}

/** The usual descriptions of such fields. @param noun the word for the value, such as `status` */
export function usualTexts(says: string, noun: string) {
  return {
    description: `${says}; null when the ${noun} is not one of these.`,
    raw: `The ${noun} as the service sent it.`,
  };
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
  const { name, description, raw, isRequired = false, read, renamedTo: newer } = pair;
  const old = (to: string) => (newer === undefined ? {} : { deprecationReason: renamedTo(to) });
  return {
    [name]: t.field({
      ...old(`${newer}`),
      type: values.ref,
      description,
      resolve: (parent, _args, context, info) => values.show(read(parent), context, info),
    }),
    [`${name}Raw`]: t.string({
      ...old(`${newer}Raw`),
      nullable: !isRequired,
      description: raw,
      resolve: read,
    }),
  };
}

/** The fields of a list of open enums: `x` has the values of the enum only; `xRaw` has every text as sent. */
export function openEnumListFields<Parent>(
  t: Fields<Parent>,
  values: OpenEnum<string>,
  pair: {
    readonly name: string;
    readonly description: string;
    readonly raw: string;
    readonly read: (parent: Parent) => readonly string[];
  },
) {
  const { name, description, raw, read } = pair;
  return {
    [name]: t.field({
      type: [values.ref],
      nullable: false,
      description,
      resolve: (parent, _args, context, info) =>
        read(parent).flatMap((text) => values.known(text) ?? reportUnknown(text, context, info) ?? []),
    }),
    [`${name}Raw`]: t.stringList({
      nullable: false,
      description: raw,
      resolve: read,
    }),
  };
}

/** The fields of an input that take an open enum: `x`, or in its place `xRaw`, a text that the enum does not have. */
export function openInputFields<Name extends string>(
  t: InputFields,
  values: OpenEnum<string>,
  { name, description, raw }: { readonly name: Name; readonly description: string; readonly raw: string },
) {
  const fields = { known: t.field({ type: values.ref, description }), raw: t.string({ description: raw }) };
  return { [name]: fields.known, [`${name}Raw`]: fields.raw } as Record<NoInfer<Name>, typeof fields.known> &
    Record<`${NoInfer<Name>}Raw`, typeof fields.raw>;
}

/** An input with open enums: each value is given as `x`, or as `xRaw`, a text that the enum does not have. */
type OpenInput<Name extends string> = Readonly<
  Partial<Record<Name | `${Name}Raw`, string | null | undefined>>
>;

/** The given value in the service's spelling, or null when it is left out. */
export function readOpen<Name extends string>(input: OpenInput<Name>, name: Name): string | null {
  return input[name]?.toLowerCase() ?? input[`${name}Raw`] ?? null;
}

/** A known value and a text for the same field contradict each other. */
export function findContradictions<Name extends string>(
  input: OpenInput<Name>,
  names: readonly Name[],
): readonly InputIssue[] {
  return names
    .filter((name) => input[name] && input[`${name}Raw`])
    .map((name) => ({
      path: [`${name}Raw`],
      code: 'CONFLICT',
      message: `Give either ${name} or ${name}Raw.`,
    }));
}

/**
 * Like readOpen, for an input of which nothing else is read where both are given. A mutation with a place for it returns
 * that as data (mutation-result.ts).
 * @param place where the input is, such as `filter` or `input.patientDetails`
 * @throws GatewayError BAD_USER_INPUT for a contradiction
 */
export function requireOpen<Name extends string>(
  place: string,
  input: OpenInput<Name>,
  name: Name,
): string | null {
  const contradictions = findContradictions(input, [name]);
  if (contradictions.length === 0) return readOpen(input, name);
  const parents = place.split('.').filter((part) => part !== 'input');
  throw new GatewayError('BAD_USER_INPUT', `Give either ${place}.${name} or ${place}.${name}Raw.`, {
    issues: contradictions.map(({ path, message }) => ({
      location: [...parents, ...path],
      message,
      kind: 'conflict',
    })),
  });
}

type TextList = readonly string[] | null | undefined;

/** The values of a list of open enums and the texts that the enum lacks, in the service's spelling; null for neither. */
export function uniteOpen(known: TextList, raw: TextList): readonly string[] | null {
  const all = [...(known ?? []).map((value) => value.toLowerCase()), ...(raw ?? [])];
  return known || raw ? [...new Set(all)] : null;
}
