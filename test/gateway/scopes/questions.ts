import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import { nodeIdOf } from '../../support/node-id.ts';
import { schema } from '../isolation/places.ts';
import type { Owner } from './world.ts';

/** One field of a question, and what is asked of what it leads to. */
export interface Asked {
  readonly coordinate: string;
  readonly name: string;
  /** As a document calls it. */
  readonly call: string;
  readonly type: GraphQLNamedType;
  /** Empty for a scalar, and for a type that another question asks. */
  readonly fields: Asked[];
}

/** The operations that ask every field of every type reachable from Query, each type in its nearest place. */
export function questionsOf(owner: Owner): readonly Asked[] {
  const query = schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const given = argumentsOf(owner);
  const roots = Object.values(query.getFields()).flatMap((field) =>
    (given[`Query.${field.name}`] ?? [callOf(field)]).map((call) => toAsked(query, field, call)),
  );
  // Slots at service centers say more than slots at home.
  const isFullest = ({ name }: Asked) => Number(name === 'serviceCenterAvailability');
  return expand(
    roots.toSorted((a, b) => isFullest(b) - isFullest(a)),
    given,
  );
}

/** The names of all objects that a query can lead to. */
export function typesOfQueries(): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting: (GraphQLNamedType | null | undefined)[] = [schema.getQueryType()];
  for (const type of waiting) {
    if (!isObjectType(type) || found.has(type.name)) continue;
    found.add(type.name);
    waiting.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  }
  return found;
}

/** Breadth first. */
function expand(roots: readonly Asked[], given: Given): readonly Asked[] {
  const placeOf = new Map<GraphQLObjectType, string>();
  const waiting: (readonly [Asked, ...Asked[]])[] = roots.map((root) => [root]);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const [{ type, fields }] = path;
    if (!isObjectType(type)) continue;
    // The same place with other arguments asks the same again.
    const place = path.map(({ name }) => name).join(' < ');
    if ((placeOf.get(type) ?? place) !== place) continue;
    placeOf.set(type, place);
    for (const field of Object.values(type.getFields())) {
      const [call = callOf(field)] = given[`${type.name}.${field.name}`] ?? [];
      const child = toAsked(type, field, call);
      fields.push(child);
      waiting.push([child, ...path]);
    }
  }
  return roots;
}

function toAsked(
  parent: GraphQLObjectType,
  { name, type }: GraphQLField<unknown, unknown>,
  call: string,
): Asked {
  return { coordinate: `${parent.name}.${name}`, name, call, type: getNamedType(type), fields: [] };
}

function callOf({ name, args }: GraphQLField<unknown, unknown>): string {
  return args.some((argument) => argument.name === 'first') ? `${name}(first: 1)` : name;
}

/** As text, with `{ __typename }` for what another question asks. */
export function selectionOf({ type, call, fields }: Asked): string {
  if (fields.length > 0) return `${call} { ${fields.map(selectionOf).join(' ')} }`;
  return isCompositeType(type) ? `${call} { __typename }` : call;
}

type Given = Readonly<Record<string, readonly string[]>>;

/** How fields are called that need more than `first: 1`. */
function argumentsOf(owner: Owner): Given {
  const { userId, clientUserId, labReportId, workoutId, orderIds, labTestId } = owner;
  const address = '{ firstLine: "1 Example Street", city: "Phoenix", state: "AZ", zip: "85004" }';
  return {
    'Query.appointment': [`appointment(id: "${owner.appointmentId}")`],
    'Query.appointmentCancellationReasons': ['appointmentCancellationReasons(type: PHLEBOTOMY)'],
    'Query.areaInfo': ['areaInfo(zipCode: "85004")'],
    'Query.lab': ['lab(id: 6)'],
    'Query.labReport': [`labReport(id: "${labReportId}")`],
    'Query.labTest': [`labTest(id: "${labTestId}")`],
    // Both with questions.
    'Query.marker': ['marker(id: 27059)'],
    'Query.markers': ['markers(first: 1, name: "Insulin")'],
    'Query.node': [`node(nodeId: "${nodeIdOf('LabTest', `~${'0'.repeat(64)}`)}")`],
    'Query.nodes': ['nodes(nodeIds: [])'],
    'Query.order': orderIds.map((id) => `order(id: "${id}")`),
    'Query.orderSetMarkers': [`orderSetMarkers(first: 1, labTestIds: ["${labTestId}"])`],
    'Query.phlebotomyAvailability': [
      `phlebotomyAvailability(input: { address: ${address}, startDate: "2030-01-01" })`,
    ],
    // A day to come: late in the day today has no slots any more.
    'Query.serviceCenterAvailability': [
      'serviceCenterAvailability(input: { lab: QUEST, zipCode: "85004", startDate: "2030-01-01" })',
    ],
    'Query.serviceCenters': ['serviceCenters(labId: 6, zipCode: "85004")'],
    'Query.user': [`user(id: "${userId}")`],
    'Query.userByClientUserId': [`userByClientUserId(clientUserId: ${JSON.stringify(clientUserId)})`],
    'Query.workoutStream': [`workoutStream(workoutId: "${workoutId}")`],
    'User.healthSamples': ['healthSamples(resource: "glucose")'],
    'User.healthSummaries': ['activity', 'profile'].map(
      (resource) => `healthSummaries(resource: "${resource}")`,
    ),
  };
}
