import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLArgument,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNullableType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/** The fields, arguments and input fields of the schema that are not deprecated. */
const places = Object.values(schema.getTypeMap())
  .flatMap((type) => {
    if (type.name.startsWith('__')) return [];
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) => [
      { ...field, owner: type, coordinate: `${type.name}.${field.name}` },
      ...('args' in field ? field.args : []).map((arg: GraphQLArgument) => ({
        ...arg,
        owner: type,
        coordinate: `${type.name}.${field.name}(${arg.name})`,
      })),
    ]);
  })
  .filter(({ deprecationReason }) => !deprecationReason);

/**
 * Enums whose values stand under more names than one, each with the reason. The others have one name, with an s where it
 * is a list.
 */
const severalNames: Readonly<Record<string, readonly string[]>> = {
  // The last event of an appointment, beside its own status; in an event it is the status.
  AppointmentEventStatus: ['eventStatus', 'status'],
  // An event names its subject: `ConnectionChanged.errorType`. A fault is the subject: `ConnectionFault.type`.
  ConnectionErrorType: ['errorType', 'type'],
  // A result has a type. A simulation is of an order, and names the types of its results.
  ResultType: ['resultType', 'type'],
};

test('the values of an enum stand under one name', () => {
  const names = new Map<string, Set<string>>();
  for (const { name, type } of places) {
    const named = getNamedType(type);
    if (!isEnumType(named)) continue;
    const isList = isListType(isNullableType(type) ? type : type.ofType);
    const singular = isList ? name.replace(/ies$/, 'y').replace(/s$/, '') : name;
    names.set(named.name, (names.get(named.name) ?? new Set()).add(singular));
  }
  const several = [...names].filter(([, set]) => set.size > 1);
  const found = several.map(([name, set]) => [name, [...set].sort()] as const);
  expect(Object.fromEntries(found)).toEqual(severalNames);
});

/** Names that a thing had before, by the name that it has now: only deprecated fields have them. */
const formerNames: Readonly<Record<string, string>> = {
  method: 'collectionMethod',
  methodRaw: 'collectionMethodRaw',
  methods: 'collectionMethods',
  statuses: 'steps',
  statusesRaw: 'stepsRaw',
  note: 'notes',
  radius: 'within',
  start: 'startAt',
  end: 'endAt',
  startDate: 'rangeStart, but for the first day of slots',
  endDate: 'rangeEnd',
  timezoneOffset: 'timeZoneOffset',
  birthDateRaw: 'dobRaw',
  laboratory: 'labName',
};

test('no field has a name that its thing had before', () => {
  const former = places.filter(({ name }) => Object.hasOwn(formerNames, name));
  expect(former.map(({ coordinate }) => coordinate)).toEqual([
    'PhlebotomyAvailabilityInput.startDate',
    'ServiceCenterAvailabilityInput.startDate',
  ]);
});

test('in an input, `id` is what the mutation is named after, and any other id says of what it is', () => {
  const owners = places.filter(({ name, owner }) => name === 'id' && isInputObjectType(owner));
  const inputs = owners.map(({ owner }) => owner.name).filter((name) => name !== 'UserReference');
  expect(inputs.filter((name) => !/^[A-Z][a-z]+(Order|User)Input$/.test(name))).toEqual([]);
});

/** Enums that the gateway makes: each of their values is known. */
const closed = ['InputIssueCode', 'LabReportReview', 'OrderUpdateKind', 'UserErrorCode', 'ViewerKind'];

test('every enum that the service may extend has its text beside it', () => {
  const lacking = places.filter(({ name, type, owner }) => {
    const named = getNamedType(type);
    if (!isEnumType(named) || isInputObjectType(owner) || closed.includes(named.name)) return false;
    return !('getInterfaces' in owner) || owner.getFields()[`${name}Raw`] === undefined;
  });
  const coordinates = lacking.map(({ coordinate }) => coordinate);
  // An argument names what the service is asked for. The parts of a status are those of its one text, `raw`.
  expect(coordinates.filter((each) => !each.includes('('))).toEqual([
    'OrderStatus.collectionMethod',
    'OrderStatus.stage',
    'OrderStatus.step',
  ]);
});
