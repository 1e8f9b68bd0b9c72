import { scopes } from '../../../gateway/upstream/service.ts';
import { pageOrigin } from '../../support/launch.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import type { Row } from '../mutations/row.ts';
import { rows } from '../mutations/rows.ts';
import { secretsOf } from './people.ts';
import { documentOf, type Place, places, type Variables, valueAt, withValue } from './places.ts';
import { table } from './table.ts';
import { findDifferences, findFailures, findTold, type Try } from './walk.ts';

export type Make = NonNullable<Parameters<typeof startSpoiltLab>[0]>['make'];

/** A mutation that would succeed for its owner, in a world of its own. */
interface Scene {
  readonly lab: SpoiltLab;
  readonly row: Row;
  readonly field: string;
  readonly places: readonly Place[];
  /** Arguments with ids of `owner`. */
  readonly variables: Variables;
  readonly owner: string;
}

/** What is wrong with mutations that are called with ids of somebody else. */
export async function* findFaultsOfWrites(make?: Make): AsyncGenerator<string> {
  for (const row of rows) {
    const field = `Mutation.${row.mutation}`;
    const here = places.filter((place) => place.field === field && isChecked(place));
    if (here.length === 0) continue;
    await using lab = await startSpoiltLab({
      env: { ALLOWED_ORIGINS: pageOrigin },
      ...(make === undefined ? {} : { make }),
    });
    const variables = await row.arrange(lab);
    const owner = await ownerOf(lab, here, variables);
    const scene: Scene = { lab, row, field, places: here, variables, owner };
    yield* findTrespasses(scene);
    yield* findOwnFailures(scene);
    yield* findSharedKeys(scene);
  }
}

function isChecked({ coordinate }: Place): boolean {
  const kind = table[coordinate]?.kind;
  return kind !== undefined && kind !== 'public';
}

/** Whom the arranged arguments are about. */
async function ownerOf(lab: SpoiltLab, here: readonly Place[], variables: Variables): Promise<string> {
  const ids = here.flatMap(({ path }) => valueAt(variables, path)).map(String);
  const order = lab.sandbox.orders().find(({ orderId }) => ids.includes(orderId));
  const user = lab.sandbox.users().find(({ userId }) => ids.includes(userId));
  const found = order?.userId ?? user?.userId ?? lab.sandbox.users()[0]?.userId;
  if (found === undefined) throw new Error('The world has no users.');
  return found;
}

interface Intruder {
  readonly title: string;
  readonly token: string;
  readonly userId: string;
  readonly orderId: string;
  readonly secrets: readonly string[];
}

async function meetIntruders({ lab, owner, variables, places: here }: Scene): Promise<readonly Intruder[]> {
  const given = here.flatMap(({ path }) => valueAt(variables, path)).map(String);
  const orders = lab.sandbox.orders();
  const stranger = orders.find(({ userId }) => userId !== owner);
  const beside = orders.find(({ userId, orderId }) => userId === owner && !given.includes(orderId));
  if (stranger === undefined) throw new Error('The world has one user with orders only.');
  const owned = orders.flatMap(({ userId, orderId }) => (userId === owner ? [orderId] : []));
  const secrets = await secretsOf(lab, owned);
  const limitedTo = beside?.orderId ?? crypto.randomUUID();
  const known = beside === undefined ? [] : await secretsOf(lab, [limitedTo]);
  return [
    {
      title: "another user's",
      token: await lab.tokenFor(stranger.userId, { scopes }),
      userId: stranger.userId,
      orderId: stranger.orderId,
      secrets: [...secrets, owner],
    },
    {
      title: "an order's that the token is not for",
      token: await lab.tokenFor(owner, { scopes, orderIds: [limitedTo] }),
      userId: owner,
      orderId: limitedTo,
      secrets: secrets.filter((secret) => !known.includes(secret)),
    },
  ];
}

/** One place at a time beside what is the intruder's own, and all of them at once. */
async function* findTrespasses(scene: Scene): AsyncGenerator<string> {
  const { lab, owner, variables } = scene;
  for (const intruder of await meetIntruders(scene)) {
    const { secrets } = intruder;
    const theirs = scene.places.filter(
      (place) => isForbidden(place, variables) && !(intruder.userId === owner && isOfUser(place)),
    );
    for (const place of theirs) {
      const beside = theirs.filter((each) => each !== place);
      const mixed = beside.reduce((given, each) => withOwn(given, each, intruder), variables);
      yield* findDifferences(lab, { ...tryOf(scene, intruder, mixed), at: [place], secrets });
    }
    if (theirs.length > 1)
      yield* findDifferences(lab, { ...tryOf(scene, intruder, variables), at: theirs, secrets });
  }
}

function isForbidden({ coordinate, path }: Place, variables: Variables): boolean {
  const kind = table[coordinate]?.kind;
  return (kind === 'owned' || kind === 'team') && valueAt(variables, path) != null;
}

function isOfUser({ coordinate }: Place): boolean {
  const treatment = table[coordinate];
  return treatment?.kind === 'owned' && treatment.isOfUser === true;
}

/** The arguments with what the intruder may give in this place. */
function withOwn(variables: Variables, place: Place, { userId, orderId }: Intruder): Variables {
  const treatment = table[place.coordinate];
  if (treatment?.kind !== 'owned') return variables;
  const own = treatment.isOfUser ? userId : orderId;
  return withValue(variables, place.path, own);
}

function tryOf(
  { field, row }: Scene,
  { title, token }: Pick<Intruder, 'title' | 'token'>,
  variables: Variables,
): Try {
  return {
    title: `${row.mutation} with ids of ${title}`,
    field,
    document: documentOf(field),
    token,
    variables,
  };
}

async function* findOwnFailures(scene: Scene): AsyncGenerator<string> {
  const { lab, row, owner, variables } = scene;
  if (scene.places.every(({ coordinate }) => table[coordinate]?.kind === 'team')) return;
  const token = await lab.tokenFor(owner, { scopes });
  let expected = row.success;
  yield* findFailures(lab, tryOf(scene, { title: 'oneself', token }, variables), (told) => {
    const isGood = told.includes(`"${expected}"`) || told.includes(`\\"${expected}\\"`);
    expected = row.again;
    return isGood;
  });
}

/** What an answer can say without an id that is new each time. */
const withoutNewIds = `{ __typename ... on UserError { code message }
  ... on OrderCreated { order { userId } } }`;
const selections: Readonly<Record<string, string>> = {
  createLabReport:
    '{ __typename ... on UserError { code message } ... on LabReportCreated { labReport { userId } } }',
  bookServiceCenterAppointment:
    '{ __typename ... on UserError { code message } ... on AppointmentAccepted { order { userId } } }',
};

/** A key that the owner has used is used by a stranger, who is told and gives away nothing of it. */
async function* findSharedKeys(scene: Scene): AsyncGenerator<string> {
  const { lab, row, owner, field } = scene;
  const [stranger] = await meetIntruders(scene);
  if (stranger === undefined) return;
  const own = scene.places.filter((place) => isForbidden(place, scene.variables));
  const variables = own.reduce((given, each) => withOwn(given, each, stranger), scene.variables);
  const kept = () => lab.sandbox.orders().filter(({ userId }) => userId === owner);
  for (const place of scene.places) {
    const trespass = { ...tryOf(scene, stranger, variables), at: [place], secrets: stranger.secrets, kept };
    const kind = table[place.coordinate]?.kind;
    if (kind === 'open') yield* findTold(lab, trespass);
    if (kind === 'key')
      yield* findDifferences(lab, {
        ...trespass,
        document: documentOf(field, selections[row.mutation] ?? withoutNewIds),
      });
  }
}
