import { scopes } from '../../../gateway/auth/rights.ts';
import { pageOrigin } from '../../support/launch.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import type { Row } from '../mutations/row.ts';
import { rows } from '../mutations/rows.ts';
import { ordersOf, secretsOf } from './people.ts';
import { documentOf, type Place, places, type Variables, valueAt, withValue } from './places.ts';
import { table } from './table.ts';
import { findDifferences, findFailures, findShown, type Try } from './walk.ts';

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
  for (const { row, field, places: here } of rows.flatMap(formsOf)) {
    await using lab = await startSpoiltLab({
      env: { ALLOWED_ORIGINS: pageOrigin },
      ...(make === undefined ? {} : { make }),
    });
    const arranged = toForm(await row.arrange(lab), here);
    const owner = ownerOf(lab, here, arranged);
    const variables = here.reduce((given, place) => fillIn(given, place, { lab, owner }), arranged);
    const scene: Scene = { lab, row, field, places: here, variables, owner };
    yield* findTrespasses(scene);
    yield* findOwnFailures(scene);
    yield* findSharedKeys(scene);
  }
}

/** The places of a mutation; those of an `input` apart from the arguments that it replaces. */
function formsOf(row: Row): readonly Pick<Scene, 'row' | 'field' | 'places'>[] {
  const field = `Mutation.${row.mutation}`;
  const here = places.filter((place) => place.field === field && isChecked(place));
  return [here.filter(({ isDeprecated }) => isDeprecated), here.filter(({ isDeprecated }) => !isDeprecated)]
    .filter(({ length }) => length > 0)
    .map((form) => ({ row, field, places: form }));
}

/** Arguments as fields of `input`, where the places are in there. */
function toForm(arranged: Variables, [place]: readonly Place[]): Variables {
  return place?.isDeprecated || 'input' in arranged ? arranged : { input: arranged };
}

function isChecked(place: Place): boolean {
  const kind = kindOf(place);
  return kind !== undefined && kind !== 'public';
}

/** Whom the arranged arguments are about. */
function ownerOf(lab: SpoiltLab, here: readonly Place[], variables: Variables): string {
  const ids = here.flatMap(({ path }) => valueAt(variables, path)).map(String);
  const order = lab.sandbox.orders().find(({ orderId }) => ids.includes(orderId));
  const user = lab.sandbox.users().find(({ userId }) => ids.includes(userId));
  const found = order?.userId ?? user?.userId ?? lab.sandbox.users()[0]?.userId;
  if (found === undefined) throw new Error('The world has no users.');
  return found;
}

/** What the row leaves out can be tried as well. */
function fillIn(given: Variables, place: Place, { lab, owner }: Pick<Scene, 'lab' | 'owner'>): Variables {
  if (kindOf(place) !== 'owned' || valueAt(given, place.path) != null) return given;
  return withValue(given, place, isOfUser(place) ? owner : ordersOf(lab, owner)[0]);
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
  const secrets = await secretsOf(lab, ordersOf(lab, owner));
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
  const forTeam = scene.places.filter((place) => kindOf(place) === 'team');
  for (const intruder of await meetIntruders(scene)) {
    const { secrets } = intruder;
    const theirs = scene.places.filter(
      (place) => kindOf(place) === 'owned' && !(intruder.userId === owner && isOfUser(place)),
    );
    for (const place of theirs) {
      const beside = theirs.filter((each) => each !== place);
      const mixed = beside.reduce((given, each) => withOwn(given, each, intruder), variables);
      yield* findDifferences(lab, { ...tryOf(scene, intruder, mixed), at: [place], secrets });
    }
    if (theirs.length > 1)
      yield* findDifferences(lab, { ...tryOf(scene, intruder, variables), at: theirs, secrets });
    for (const place of forTeam) {
      const given = withValue(variables, place, valueAt(variables, place.path) ?? owner);
      const trespass = { ...tryOf(scene, intruder, given), at: [place], secrets };
      yield* findDifferences(lab, { ...trespass, says: /FORBIDDEN/ });
    }
  }
}

const kindOf = ({ coordinate }: Place) => table[coordinate]?.kind;

function isOfUser({ coordinate }: Place): boolean {
  const treatment = table[coordinate];
  return treatment?.kind === 'owned' && treatment.isOfUser === true;
}

/** The arguments with what the intruder may give in this place. */
function withOwn(variables: Variables, place: Place, { userId, orderId }: Intruder): Variables {
  const treatment = table[place.coordinate];
  if (treatment?.kind !== 'owned') return variables;
  const own = treatment.isOfUser ? userId : orderId;
  return withValue(variables, place, own);
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
  if (scene.places.every((place) => kindOf(place) === 'team')) return;
  const token = await lab.tokenFor(owner, { scopes });
  let expected = row.success;
  yield* findFailures(lab, tryOf(scene, { title: 'oneself', token }, variables), (result) => {
    const isGood = result.includes(`"${expected}"`) || result.includes(`\\"${expected}\\"`);
    expected = row.again;
    return isGood;
  });
}

/** What is asked where a key is used: nothing that is new each time. */
interface KeyUse {
  readonly selection: string;
  /** The answer to a stranger who gives their own values beside the key. */
  readonly says: RegExp;
}

const refusal = '__typename ... on UserError { code message }';
const placing = {
  selection: `{ ${refusal} ... on OrderCreated { order { userId } } }`,
  says: /OrderCreated/,
};
const keyUses: Readonly<Record<string, KeyUse>> = {
  createOrder: placing,
  createTestkitOrder: placing,
  createLabReport: {
    selection: `{ ${refusal} ... on LabReportCreated { labReport { userId } } }`,
    says: /LabReportCreated/,
  },
  // The slot is taken; before that is asked, the key is looked up.
  bookServiceCenterAppointment: {
    selection: `{ ${refusal} ... on AppointmentAccepted { order { userId } } }`,
    says: /SlotUnavailable|AppointmentRefused/,
  },
};

/** A stranger uses a key that the owner has used: nothing of the owner's order is disclosed or changed. */
async function* findSharedKeys(scene: Scene): AsyncGenerator<string> {
  const { lab, row, owner, field } = scene;
  const [stranger] = await meetIntruders(scene);
  if (stranger === undefined) return;
  const own = scene.places.filter((place) => kindOf(place) === 'owned');
  const variables = own.reduce((given, each) => withOwn(given, each, stranger), scene.variables);
  const stored = () => lab.sandbox.orders().filter(({ userId }) => userId === owner);
  for (const place of scene.places) {
    const trespass = { ...tryOf(scene, stranger, variables), at: [place], secrets: stranger.secrets, stored };
    if (kindOf(place) === 'open') yield* findShown(lab, trespass);
    if (kindOf(place) !== 'key') continue;
    const use = keyUses[row.mutation];
    if (use === undefined) yield `${row.mutation} takes a key: say in isolation/writes.ts what its use says`;
    else
      yield* findDifferences(lab, {
        ...trespass,
        says: use.says,
        document: documentOf(field, use.selection),
      });
  }
}
