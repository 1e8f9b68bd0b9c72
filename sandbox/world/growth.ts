import type { LabTest, Marker } from './catalogue.ts';
import { seededUuid } from './ids.ts';
import { findUser, type World } from './world.ts';

/** Changes without a request of the team: the catalogue grows, users connect providers. */
export interface Growth {
  /** Adds a testkit that measures nothing yet, last in the catalogue, and returns its id. The state file does not contain it. */
  readonly addLabTest: () => string;
  /** Adds a marker like the catalogue's first, last in the catalogue and measured by this lab test. */
  readonly addMarker: (labTestId: string) => void;
  /** Connects the user with a provider. */
  readonly connect: (userId: string, provider: string) => void;
}

/** The growth of one world. */
export function createGrowth(world: World): Growth {
  const { labTests, markers } = world.catalogue;
  return {
    addLabTest: () => {
      const labTest = newLabTest(world, firstOf(labTests.filter(({ method }) => method === 'testkit')));
      labTests.push(labTest);
      return labTest.id;
    },
    addMarker: (labTestId) => {
      const index = labTests.findIndex(({ id }) => id === labTestId);
      const labTest = firstOf(labTests.slice(index, index + 1));
      const marker = newMarker(markers, labTest.labId);
      markers.push(marker);
      labTests[index] = { ...labTest, markerIds: [...labTest.markerIds, marker.id] };
    },
    connect: (userId, provider) => {
      const user = findUser(world, userId);
      if (user) user.sources = [...user.sources, provider];
    },
  };
}

function newLabTest({ catalogue, state }: World, like: LabTest): LabTest {
  const ordinal = catalogue.labTests.length;
  const name = `${like.name} ${ordinal}`;
  return {
    ...like,
    id: seededUuid(state.seed, 'lab-test', ordinal),
    slug: `new-${ordinal}`,
    name,
    markerIds: [],
  };
}

function newMarker(markers: readonly Marker[], labId: number): Marker {
  const like = firstOf(markers);
  const id = Math.max(...markers.map((marker) => marker.id)) + 1;
  return { ...like, id, lab_id: labId, provider_id: `NEW-${id}` };
}

/** @throws Error for an empty list: the caller named an unknown id */
function firstOf<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('The world has no such thing.');
  return item;
}
