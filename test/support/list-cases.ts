import { shippingDetails } from '../sandbox/support.ts';
import { type Lab, serviceKey } from './lab.ts';

/** Writes the connection itself, with further arguments. */
export type WriteList = (name: string, more?: string) => string;

/** One connection of the graph: how to ask for it, what it must show, and how it comes to have more rows. */
export interface ListCase {
  /** As in the schema, `User.orders`. */
  readonly field: string;
  /** Fields with the same rows under the same cursors have the same. */
  readonly list: string;
  /** The field that identifies its rows. */
  readonly key: 'id' | 'userId';
  readonly growsAt: 'head' | 'end';
  /** A stretch may hold fewer rows than asked for, and the list go on. */
  readonly mayBeShort?: true;
  readonly ask: (lab: Lab, list: WriteList) => string;
  /** The same of a list without rows. */
  readonly askEmpty: (lab: Lab, list: WriteList) => string | Promise<string>;
  /** The keys of its rows, in the order that is promised, from the service itself. */
  readonly keys: (lab: Lab) => Promise<readonly string[]>;
  readonly grow: (lab: Lab) => Promise<void>;
}

/** Asks the sandbox as the gateway does. */
async function askService<Body>(lab: Lab, call: string, body?: unknown): Promise<Body> {
  const [method = '', path = ''] = call.split(' ');
  const answer = await lab.sandbox.fetch(
    new Request(`http://sandbox.test${path}`, {
      method,
      headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  if (!answer.ok) throw new Error(`The sandbox refused ${call} with ${answer.status}.`);
  const text = await answer.text();
  // What a caller names is what the sandbox's own tests hold.
  return (text === '' ? null : JSON.parse(text)) as Body;
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index);
  if (item === undefined) throw new Error(`The world has no item ${index}.`);
  return item;
}

const userIdOf = (lab: Lab, index = 0) => at(lab.sandbox.users(), index).userId;
const kitOf = (lab: Lab) =>
  at(
    lab.sandbox.labTests().filter(({ method }) => method === 'testkit'),
    0,
  ).labTestId;

/** Sends out a kit and returns the order's id. */
export async function orderKit(lab: Lab, labTestId = kitOf(lab)): Promise<string> {
  const body = { user_id: userIdOf(lab), lab_test_id: labTestId, shipping_details: shippingDetails };
  const { order } = await askService<{ order: { id: string } }>(lab, 'POST /v3/order/testkit', body);
  return order.id;
}

export async function cancelOrder(lab: Lab, orderId: string): Promise<void> {
  await askService(lab, `POST /v3/order/${orderId}/cancel`);
}

const placeOrder = async (lab: Lab) => {
  await orderKit(lab);
};

async function createUser(lab: Lab): Promise<string> {
  const reference = `new-${lab.sandbox.users().length}`;
  const { user_id } = await askService<{ user_id: string }>(lab, 'POST /v2/user', {
    client_user_id: reference,
  });
  return user_id;
}

async function deleteAllUsers(lab: Lab): Promise<void> {
  for (const { userId } of lab.sandbox.users()) await askService(lab, `DELETE /v2/user/${userId}`);
}

/** A day of health data of the first user, and until it has come. */
export async function sendWearables(lab: Lab): Promise<void> {
  await askService(lab, 'POST /sandbox/wearables', { user_id: userIdOf(lab) });
  await lab.sandbox.webhooks.settled();
}

interface MarkerPage {
  readonly markers: readonly {
    readonly id: number;
    readonly expected_results: readonly { readonly loinc: { readonly code: string } }[];
  }[];
  readonly pages: number;
}

/** All markers of a list of the service's own, in its order. */
async function markersOf(lab: Lab, call: string, body?: unknown): Promise<MarkerPage['markers']> {
  const markers: MarkerPage['markers'][number][] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await askService<MarkerPage>(lab, `${call}?size=100&page=${page}`, body);
    pages = answer.pages;
    markers.push(...answer.markers);
  }
  return markers;
}

const keysOf = (markers: MarkerPage['markers']) => markers.map(({ id }) => String(id));
const catalogueOf = (lab: Lab) => markersOf(lab, 'GET /v3/lab_tests/markers');
const addMarker = async (lab: Lab) => lab.sandbox.growth.addMarker(labTestIdOf(lab));

/** The lab test with the most markers, and an order of it: places 2 and 1 of the sandbox's world. */
const labTestIdOf = (lab: Lab) => at(lab.sandbox.labTests(), 2).labTestId;
const orderIdOf = (lab: Lab) => at(lab.sandbox.orders(), 1).orderId;

async function listUsersWithPulls(lab: Lab): Promise<readonly string[]> {
  const userIds: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v2/introspect/historical_pull?user_limit=200${cursor && `&next_cursor=${cursor}`}`;
    const page: PullPage = await askService(lab, `GET ${path}`);
    userIds.push(...page.data.map(({ user_id }) => user_id));
    cursor = page.next_cursor;
  }
  return userIds;
}

interface PullPage {
  readonly data: readonly { readonly user_id: string }[];
  readonly next_cursor: string | null;
}

/** The measurements of one lab test, wherever they are asked for. */
const ofLabTest = {
  list: 'order set',
  key: 'id',
  growsAt: 'end',
  keys: async (lab: Lab) =>
    keysOf(
      await markersOf(lab, 'POST /v3/lab_tests/list_order_set_markers', { lab_test_ids: [labTestIdOf(lab)] }),
    ),
  grow: addMarker,
} as const;

export const listCases: readonly ListCase[] = [
  {
    field: 'Query.orders',
    list: 'orders',
    key: 'id',
    growsAt: 'head',
    ask: (_lab, list) => `{ ${list('orders')} }`,
    askEmpty: (_lab, list) => `{ ${list('orders', 'filter: { search: "nobody at all" }')} }`,
    keys: async (lab) =>
      lab.sandbox
        .orders()
        .map(({ orderId }) => orderId)
        .toReversed(),
    grow: placeOrder,
  },
  {
    field: 'User.orders',
    list: 'orders of a user',
    key: 'id',
    growsAt: 'head',
    ask: (lab, list) => `{ user(id: "${userIdOf(lab)}") { ${list('orders')} } }`,
    askEmpty: (lab, list) => `{ user(id: "${userIdOf(lab, 12)}") { ${list('orders')} } }`,
    keys: async (lab) => {
      const own = lab.sandbox.orders().filter(({ userId }) => userId === userIdOf(lab));
      return own.map(({ orderId }) => orderId).toReversed();
    },
    grow: placeOrder,
  },
  {
    field: 'Query.users',
    list: 'users',
    key: 'id',
    growsAt: 'end',
    ask: (_lab, list) => `{ ${list('users')} }`,
    askEmpty: async (lab, list) => {
      await deleteAllUsers(lab);
      return `{ ${list('users')} }`;
    },
    keys: async (lab) => lab.sandbox.users().map(({ userId }) => userId),
    grow: async (lab) => {
      await createUser(lab);
    },
  },
  {
    field: 'Query.historicalPulls',
    list: 'historical pulls',
    key: 'userId',
    growsAt: 'end',
    mayBeShort: true,
    ask: (_lab, list) => `{ ${list('historicalPulls')} }`,
    askEmpty: (_lab, list) => `{ ${list('historicalPulls', 'providerSlug: "nobody"')} }`,
    keys: listUsersWithPulls,
    grow: async (lab) => lab.sandbox.growth.connect(await createUser(lab), 'oura'),
  },
  {
    field: 'Query.labTests',
    list: 'lab tests',
    key: 'id',
    growsAt: 'end',
    ask: (_lab, list) => `{ ${list('labTests')} }`,
    askEmpty: (_lab, list) => `{ ${list('labTests', 'filter: { name: "no such test" }')} }`,
    keys: async (lab) => lab.sandbox.labTests().map(({ labTestId }) => labTestId),
    grow: async (lab) => {
      lab.sandbox.growth.addLabTest();
    },
  },
  {
    field: 'Query.markers',
    list: 'markers',
    key: 'id',
    growsAt: 'end',
    ask: (_lab, list) => `{ ${list('markers')} }`,
    askEmpty: (_lab, list) => `{ ${list('markers', 'name: "no such marker"')} }`,
    keys: async (lab) => keysOf(await catalogueOf(lab)),
    grow: addMarker,
  },
  {
    field: 'Query.orderSetMarkers',
    ...ofLabTest,
    ask: (lab, list) => `{ ${list('orderSetMarkers', `labTestIds: ["${labTestIdOf(lab)}"]`)} }`,
    askEmpty: (_lab, list) => `{ ${list('orderSetMarkers', 'labTestIds: []')} }`,
  },
  {
    field: 'LabTest.markers',
    ...ofLabTest,
    ask: (lab, list) => `{ labTest(id: "${labTestIdOf(lab)}") { ${list('markers')} } }`,
    askEmpty: (lab, list) => `{ labTest(id: "${lab.sandbox.growth.addLabTest()}") { ${list('markers')} } }`,
  },
  {
    field: 'Order.markers',
    ...ofLabTest,
    ask: (lab, list) => `{ order(id: "${orderIdOf(lab)}") { ${list('markers')} } }`,
    askEmpty: async (lab, list) => {
      const orderId = await orderKit(lab, lab.sandbox.growth.addLabTest());
      return `{ order(id: "${orderId}") { ${list('markers')} } }`;
    },
  },
  {
    field: 'OrderEvent.markers',
    ...ofLabTest,
    ask: (lab, list) => `{ order(id: "${orderIdOf(lab)}") { lastEvent { ${list('markers')} } } }`,
    askEmpty: async (lab, list) => {
      const orderId = await orderKit(lab, lab.sandbox.growth.addLabTest());
      return `{ order(id: "${orderId}") { lastEvent { ${list('markers')} } } }`;
    },
  },
  {
    field: 'Loinc.markers',
    list: 'markers of a LOINC code',
    key: 'id',
    growsAt: 'end',
    ask: (lab, list) => askLoinc(lab, list),
    // Its code comes from a marker, so only a catalogue that has gone since then is without any.
    askEmpty: (lab, list) => {
      const body = JSON.stringify({ markers: [], total: 0, page: 1, size: 100, pages: 0 });
      lab.sandbox.faults.add({
        path: '/v3/lab_tests/markers',
        effect: { kind: 'answer', status: 200, body },
      });
      return askLoinc(lab, list);
    },
    keys: async (lab) => {
      const markers = await catalogueOf(lab);
      const code = at(at(markers, 0).expected_results, 0).loinc.code;
      return keysOf(
        markers.filter(({ expected_results }) => expected_results.some(({ loinc }) => loinc.code === code)),
      );
    },
    grow: addMarker,
  },
];

/** By the first marker of a lab test, which is the catalogue's first. */
function askLoinc(lab: Lab, list: WriteList): string {
  const labTestId = at(lab.sandbox.labTests(), 0).labTestId;
  return `{ orderSetMarkers(labTestIds: ["${labTestId}"], addOnProviderIds: ["SP-1000"], first: 1) {
    nodes { expectedResults { loinc { ${list('markers')} } } } } }`;
}
