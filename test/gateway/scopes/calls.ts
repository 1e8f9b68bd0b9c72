import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { schema } from '../isolation/places.ts';
import type { Variables } from '../mutations/row.ts';

/** One mutation or subscription as it is called, with what is nobody's. */
export interface Call {
  readonly coordinate: string;
  readonly query: string;
  readonly variables: Variables;
}

const texts: readonly (readonly [RegExp, string])[] = [
  [/line$/i, '1 Example Street'],
  [/email/i, 'nobody@example.com'],
  [/phone/i, '+16025550100'],
  [/zip/i, '85004'],
  [/state/i, 'AZ'],
  [/country/i, 'US'],
  [/returnUrl|redirect/i, 'https://page.example'],
];

/** Every mutation and subscription. What they are about does not exist, so that a permitted call changes nothing. */
export const calls: readonly Call[] = [schema.getMutationType(), schema.getSubscriptionType()].flatMap(
  (root) => (root ? Object.values(root.getFields()).map((field) => callOf(root.name, field)) : []),
);

function callOf(root: string, { name, args, type }: GraphQLField<unknown, unknown>): Call {
  const given = args.filter((argument) => isRequiredArgument(argument) || argument.name === 'input');
  const declared = given.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const passed = given.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const head = `${root.toLowerCase()}${declared === '' ? '' : ` (${declared})`}`;
  const selection = isCompositeType(getNamedType(type)) ? '{ __typename }' : '';
  return {
    coordinate: `${root}.${name}`,
    query: `${head} { result: ${name}${passed === '' ? '' : `(${passed})`} ${selection} }`,
    variables: Object.fromEntries(
      given.map((argument) => [argument.name, invent(argument.name, argument.type)]),
    ),
  };
}

/**
 * Whether an optional field leads to more calls when it is given. These are the ids of other things; without the id of
 * the user, the user is the caller. `activateBy` is given as null, for an order that is placed at once.
 */
function isMore({ name, type }: GraphQLInputField): boolean {
  return name === 'activateBy' || (name !== 'userId' && getNamedType(type).name === 'ID');
}

/** A value that the gateway takes and the service knows nothing of. */
function invent(name: string, type: GraphQLInputType): unknown {
  if (name === 'activateBy') return null;
  if (isNonNullType(type)) return invent(name, type.ofType);
  if (isListType(type)) return [invent(name, type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const fields = type.getFields();
    // Of an open enum the value or its text is needed.
    const isGiven = (field: GraphQLInputField) =>
      isRequiredInputField(field) || `${field.name}Raw` in fields || isMore(field);
    const all = Object.values(fields);
    const given = type.isOneOf ? all.slice(0, 1) : all.filter(isGiven);
    return Object.fromEntries(given.map((field) => [field.name, invent(field.name, field.type)]));
  }
  const byType: Readonly<Record<string, unknown>> = {
    ID: crypto.randomUUID(),
    Date: '1990-01-01',
    DateTime: '2026-01-01T00:00:00Z',
    Int: 1,
    Float: 1,
    Boolean: true,
    File: new File(['%PDF-1.4'], 'report.pdf', { type: 'application/pdf' }),
  };
  return byType[type.name] ?? texts.find(([pattern]) => pattern.test(name))?.[1] ?? 'nobodys';
}
