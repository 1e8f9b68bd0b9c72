import { nodeIdOf } from '../../support/node-id.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { meet, ordersOf, type Person, secretsOf, step } from './people.ts';
import { documentOf, type Place, places, type Variables, withValue } from './places.ts';
import { table } from './table.ts';
import { findDifferences, findFailures, findShown, type Try } from './walk.ts';

/** Somebody who asks, and somebody who is asked about. */
export interface Pair {
  readonly title: string;
  readonly self: Person;
  readonly other: Person;
  /** Texts that identify the other, in lower case. */
  readonly secrets: readonly string[];
  /** Whether both are one user, of whose orders `self` may see only one. */
  readonly isOneUser: boolean;
}

/** Two users who share nothing, and a user beside a token that is limited to one order. */
export async function meetPairs(lab: SpoiltLab): Promise<readonly [Pair, Pair]> {
  const [[theirs], [redraw, mine]] = findTwo(lab);
  const me = await meet(lab, mine);
  const they = await meet(lab, theirs);
  const limited = await meet(lab, { ...redraw, isNarrow: true });
  for (const { orderId } of [mine, theirs, redraw]) await step(lab, orderId);
  const { userId, clientUserId, labReportId, workoutId } = they;
  const ofThem = await secretsOf(lab, ordersOf(lab, userId));
  const known = await secretsOf(lab, [limited.orderId]);
  const ofMe = await secretsOf(lab, ordersOf(lab, me.userId));
  return [
    {
      title: "another user's",
      self: me,
      other: they,
      secrets: withNodeIds([...ofThem, userId, clientUserId, labReportId, workoutId]),
      isOneUser: false,
    },
    {
      title: "an order's that the token is not for",
      self: limited,
      other: me,
      secrets: withNodeIds(ofMe.filter((secret) => !known.includes(secret))),
      isOneUser: true,
    },
  ];
}

/** Each of them also as it stands in a `nodeId`. */
function withNodeIds(secrets: readonly string[]): readonly string[] {
  const types = ['User', 'Order', 'LabReport', 'Appointment'];
  return secrets.flatMap((id) => [id, ...types.map((type) => nodeIdOf(type, id).toLowerCase())]);
}

/** Statuses from which the sandbox takes several steps. */
const goesOn = /received|with_customer|appointment_scheduled|problem_in_transit_customer/;

interface Found {
  readonly userId: string;
  readonly orderId: string;
}

/** Two users with two orders each that go on; the second user's first one is a redraw. */
function findTwo({ sandbox }: SpoiltLab): readonly [readonly [Found, Found], readonly [Found, Found]] {
  const live = sandbox.orders().filter(({ status }) => goesOn.test(status));
  const pairs = sandbox.users().flatMap(({ userId }): readonly (readonly [Found, Found])[] => {
    const [one, two] = live.filter((order) => order.userId === userId);
    return one && two ? [[one, two]] : [];
  });
  const [first, second] = pairs;
  if (!first || !second) throw new Error('The world has too few people with orders under way.');
  return [first, second];
}

/** What is wrong with queries and subscriptions, asked for what is not the caller's. */
export async function* findFaultsOfReads(lab: SpoiltLab, pairs: readonly Pair[]): AsyncGenerator<string> {
  const asked = places.filter(({ field }) => !field.startsWith('Mutation.'));
  for (const pair of pairs) for (const place of asked) yield* findFaultsAt(lab, place, pair);
}

async function* findFaultsAt(lab: SpoiltLab, place: Place, pair: Pair): AsyncGenerator<string> {
  const treatment = table[place.coordinate];
  if (treatment === undefined || treatment.kind === 'public' || treatment.kind === 'key') return;
  if (pair.isOneUser && 'isOfUser' in treatment) return;
  const { self, other, secrets } = pair;
  const tryWith = (owner: Person, besides: Person): Try => ({
    title: `${place.field}, with ${place.path.join('.')} of ${pair.title}`,
    field: place.field,
    document: documentOf(place.field, place.selection),
    token: self.token,
    variables: withValue(besideOf(place, besides), place, give(place, owner)),
  });
  if (treatment.kind === 'open') return yield* findShown(lab, { ...tryWith(other, self), secrets });

  const says = treatment.kind === 'team' ? { says: /FORBIDDEN/ } : {};
  yield* findDifferences(lab, { ...tryWith(other, self), secrets, at: [place], ...says });
  const required = requiredBeside(place);
  if (required.length > 0)
    yield* findDifferences(lab, { ...tryWith(other, other), secrets, at: [place, ...required] });
  if (treatment.kind === 'owned')
    yield* findFailures(lab, tryWith(self, self), (result) => shows(result, self));
}

/** One's own is there. A token for one order may be refused some of what its order leads to. */
function shows(result: string, { userId, orderId, workoutId }: Person): boolean {
  return [userId, orderId, workoutId].some((id) => result.includes(id));
}

/** Other ids that the field must be given. */
function requiredBeside({ field, path }: Place): readonly Place[] {
  return places.filter((each) => each.field === field && each.path.join() !== path.join() && each.isRequired);
}

function besideOf(place: Place, person: Person): Variables {
  const given: Variables = place.field.startsWith('User.') ? { of: person.userId } : {};
  return requiredBeside(place).reduce(
    (variables, each) => withValue(variables, each, give(each, person)),
    given,
  );
}

/** What a person gives there; any id where only servers of the team may give one. */
function give({ coordinate }: Place, person: Person): unknown {
  const treatment = table[coordinate];
  return treatment?.kind === 'owned' || treatment?.kind === 'open' ? treatment.of(person) : person.userId;
}
