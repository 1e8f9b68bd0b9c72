import { getNamedType, isCompositeType, isInterfaceType, isLeafType, isObjectType } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type GraphQLAnswer, gatewayKey, type Lab, readAnew, startLab } from '../support/lab.ts';
import { transports } from '../support/subscribe.ts';
import { schema } from './isolation/places.ts';

/** Ids without an object beside them, by field or by coordinate, each with its reason. */
const bare: Readonly<Record<string, string>> = {
  teamId: 'A gateway is of one team, of which the service shows nothing more.',
  clientUserId: "The team's own reference of the user, not the service's id of a thing.",
  externalUserId: "The provider's own id of the user.",
  providerId: "The lab's or provider's own code.",
  externalId: "The provider's own reference.",
  appId: 'Names an app on a device, which the service does not describe.',
  deviceId: 'Names a device, which the service does not describe.',
  'HealthSource.workoutId': 'The workout is read as `workoutStream`.',
  'LabAccount.orgId': 'The service shows no organizations.',
  'LabAccount.providerAccountId': "The lab's own number of the account.",
  nodeId: 'Its own id.',
  'Order.healthInsuranceId': 'The graph has no insurances.',
  'Order.sampleId': 'The number printed on a kit or tube; samples are in the results.',
  'ResultCritical.sampleId': 'The number printed on a kit or tube; samples are in the results of the order.',
  'ResultSample.sampleId': 'Its own number.',
  'UserDeleted.userId': 'A deleted user is shown to nobody.',
  'WorkoutStream.workoutId': 'Its own id.',
  'WorkoutStreamReady.workoutId': 'The workout is read as `stream`.',
};

describe('beside every id of another thing', () => {
  const ids = Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap(({ name, type: given }) => {
          const [, thing, many] = /^(.+)Id(s?)$/.exec(name) ?? [];
          if (thing === undefined || !isLeafType(getNamedType(given))) return [];
          const object = type.getFields()[`${thing}${many}`];
          const isThere = object !== undefined && isCompositeType(getNamedType(object.type));
          return [{ coordinate: `${type.name}.${name}`, name, isThere }];
        })
      : [],
  );

  test('there is the thing itself', () => {
    const missing = ids.filter(
      ({ coordinate, name, isThere }) => !isThere && !(coordinate in bare) && !(name in bare),
    );
    const advice = missing.map(({ coordinate }) => `${coordinate} needs the object it names beside it.`);
    expect(advice).toEqual([]);
  });

  test('or a reason that is still true', () => {
    const used = ids.filter(({ isThere }) => !isThere).flatMap(({ coordinate, name }) => [coordinate, name]);
    expect(Object.keys(bare).filter((each) => !used.includes(each))).toEqual([]);
  });
});

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: readAnew });
});
afterAll(() => lab[Symbol.asyncDispose]());
beforeEach(() => {
  lab.sandbox.faults.clear();
  lab.sandbox.clearCalls();
});

const labsCall = 'GET /v3/lab_tests/labs';
const setCall = 'POST /v3/lab_tests/list_order_set_markers?page=1&size=100';
const codesOf = ({ errors = [] }: Pick<GraphQLAnswer, 'errors'>) =>
  errors.map(({ extensions }) => extensions.code);

describe('labs', () => {
  test('of 100 markers and of all their expected results are one call', async () => {
    const labTestId = lab.sandbox.labTests()[0]?.labTestId ?? '';
    for (let added = 0; added < 30; added += 1) lab.sandbox.growth.addMarker(labTestId);
    const { data } = await lab.query(
      '{ markers(first: 100) { nodes { labId lab { id slug } expectedResults { labId lab { id } } } } }',
    );
    const { nodes } = data.markers;
    expect(nodes).toHaveLength(100);
    for (const { labId, lab: shown, expectedResults } of nodes) {
      expect(shown.id).toBe(String(labId));
      for (const result of expectedResults) expect(result.lab.id).toBe(String(result.labId));
    }
    expect(lab.sandbox.calls).toEqual(['GET /v3/lab_tests/markers?page=1&size=100', labsCall]);
  });

  test('are found by id, for any number of ids with one call; an unknown one is null', async () => {
    const { data } = await lab.query(
      '{ quest: lab(id: 6) { slug } same: lab(id: "006") { slug } none: lab(id: 7) { id } labs { id } }',
    );
    expect(data).toMatchObject({ quest: data.same, none: null });
    expect(data.quest.slug).toBe('specimen-labs');
    expect(lab.sandbox.calls).toEqual([labsCall]);
  });

  test('stand beside the slugs of lab accounts and of the labs around a zip code', async () => {
    const { data } = await lab.query(
      '{ labAccounts { labSlug lab { slug } } areaInfo(zipCode: "85004") { labs { labSlug labId lab { id } } } }',
    );
    expect(data.labAccounts.length).toBeGreaterThan(0);
    expect(data.areaInfo.labs.length).toBeGreaterThan(0);
    for (const { labSlug, lab: shown } of data.labAccounts) expect(shown?.slug ?? labSlug).toBe(labSlug);
    for (const { labId, lab: shown } of data.areaInfo.labs) expect(shown.id).toBe(String(labId));
    expect(lab.sandbox.calls.filter((call) => call === labsCall)).toHaveLength(1);
  });

  test.each(['"six"', '""', '-1'])('with the id %s are refused before the service is asked', async (id) => {
    expect(codesOf(await lab.query(`{ lab(id: ${id}) { id } }`))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await lab.query(`{ marker(id: ${id}) { id } }`))).toEqual(['BAD_USER_INPUT']);
    expect(lab.sandbox.calls).toEqual([]);
  });
});

describe('markers', () => {
  const marker = (alias: string, id: number) => `${alias}: marker(id: ${id}) { id }`;

  test('are found by id, those of one operation with one call; an unknown one is null', async () => {
    const { data } = await lab.query(`{ ${marker('a', 1)} ${marker('b', 27000)} ${marker('none', 99)} }`);
    expect(data).toEqual({ a: { id: '1' }, b: { id: '27000' }, none: null });
    expect(lab.sandbox.calls).toEqual([setCall]);
  });

  test.each([400, 404])(
    'are found where the service refuses sets with one that it does not know by %i',
    async (status) => {
      const refused = {
        path: /list_order_set_markers/,
        effect: { kind: 'answer', status, body: '{}' },
      } as const;
      lab.sandbox.faults.add({ ...refused, times: 1 });
      const { data, errors } = await lab.query(`{ ${marker('a', 1)} ${marker('b', 27000)} }`);
      expect({ data, errors }).toEqual({
        data: { a: { id: '1' }, b: { id: '27000' } },
        errors: undefined,
      });
      expect(lab.sandbox.calls).toEqual([setCall, setCall, setCall]);
      lab.sandbox.faults.add(refused);
      expect((await lab.query(`{ ${marker('a', 1)} }`)).data).toEqual({ a: null });
    },
  );

  test('that the service refuses by any other status are an error, not missing', async () => {
    const effect = { kind: 'answer', status: 422, body: '{}' } as const;
    lab.sandbox.faults.add({ path: /list_order_set_markers/, effect });
    const answer = await lab.query(`{ ${marker('a', 1)} ${marker('b', 2)} }`);
    expect(codesOf(answer)).toEqual(['UPSTREAM_REJECTED', 'UPSTREAM_REJECTED']);
    expect(lab.sandbox.calls).toEqual([setCall]);
  });

  test('of a call that fails are an error, and those of the other calls are shown', async () => {
    const sources = [...Array.from({ length: 100 }, (_, index) => index + 1), 27000];
    const body = JSON.stringify({ results: sources.map((id) => ({ source_markers: [{ marker_id: id }] })) });
    lab.sandbox.faults.add({ path: /\/result$/, effect: { kind: 'answer', status: 200, body } });
    const refused = { kind: 'answer', status: 422, body: '{}' } as const;
    lab.sandbox.faults.add({ path: /list_order_set_markers/, effect: refused, times: 1 });
    const [order] = lab.sandbox.orders();
    const answer = await lab.query(
      `{ order(id: "${order?.orderId}") { results { biomarkers { marker { id } } } } }`,
    );
    expect(answer.data.order.results.biomarkers).toEqual(
      sources.map((id) => ({ marker: id === 27000 ? { id: '27000' } : null })),
    );
    expect(codesOf(answer)).toEqual(Array.from({ length: 100 }, () => 'UPSTREAM_REJECTED'));
  });

  test('of a half that fails are an error, and those of the other half are shown', async () => {
    const fail = (status: number) =>
      lab.sandbox.faults.add({
        path: /list_order_set_markers/,
        effect: { kind: 'answer', status, body: '{}' },
        times: 1,
      });
    fail(404);
    fail(422);
    const answer = await lab.query(`{ ${marker('a', 1)} ${marker('b', 27000)} }`);
    expect(answer.data).toEqual({ a: null, b: { id: '27000' } });
    expect(codesOf(answer)).toEqual(['UPSTREAM_REJECTED']);
  });

  test('of which the service knows none cost 30 calls at most; those that were not found out have an error', async () => {
    const effect = { kind: 'answer', status: 400, body: '{}' } as const;
    lab.sandbox.faults.add({ path: /list_order_set_markers/, effect });
    const nodeIds = Array.from({ length: 100 }, (_, index) =>
      Buffer.from(`Marker:${index + 1}`).toString('base64url'),
    );
    const answer = await lab.query('query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }', {
      variables: { ids: nodeIds },
    });
    expect(answer.data.nodes).toEqual(nodeIds.map(() => null));
    expect(new Set(codesOf(answer))).toEqual(new Set(['UPSTREAM_REJECTED']));
    expect(lab.sandbox.calls.length).toBeLessThanOrEqual(30);
  });

  test('of all results of an order, and their samples, are one call', async () => {
    const completed = lab.sandbox.orders().find(({ status }) => status.endsWith('completed'));
    const { data, errors } = await lab.query(`{ order(id: "${completed?.orderId}") { results { biomarkers {
      sampleId sample { sampleId } marker { id lab { id } } sourceMarkers { markerId marker { id name } } } } } }`);
    expect(errors).toBeUndefined();
    const { biomarkers } = data.order.results;
    expect(biomarkers.length).toBeGreaterThan(3);
    for (const { sampleId, sample, marker: first, sourceMarkers } of biomarkers) {
      expect(sample?.sampleId ?? null).toBe(sampleId);
      expect(first?.id).toBe(sourceMarkers[0]?.markerId);
      for (const source of sourceMarkers) expect(source.marker.id).toBe(source.markerId);
    }
    expect(lab.sandbox.calls.filter((call) => call === setCall || call === labsCall)).toEqual([
      setCall,
      labsCall,
    ]);
  });

  test('of more than 100 sources are one call for each 100', async () => {
    const results = Array.from({ length: 101 }, (_, index) => ({
      source_markers: [{ marker_id: index + 1 }],
    }));
    const body = JSON.stringify({ results });
    lab.sandbox.faults.add({ path: /\/result$/, effect: { kind: 'answer', status: 200, body } });
    const [order] = lab.sandbox.orders();
    const { data } = await lab.query(
      `{ order(id: "${order?.orderId}") { results { biomarkers { marker { id } } } } }`,
    );
    expect(data.order.results.biomarkers).toHaveLength(101);
    expect(lab.sandbox.calls.filter((call) => call === setCall)).toHaveLength(2);
  });
});

interface OrderRow {
  readonly id: string;
  readonly userId: string;
  readonly details: { readonly appointmentId: string | null } | null;
}

/** An order whose appointment is made, with another order of its user and a user with other orders. */
async function findVisit() {
  const { data } = await lab.query(
    '{ orders(first: 100) { nodes { id userId details { appointmentId } } } }',
  );
  lab.sandbox.clearCalls();
  const orders: readonly OrderRow[] = data.orders.nodes;
  for (const { id: orderId, userId, details } of orders) {
    const appointmentId = details?.appointmentId;
    const other = orders.find((each) => each.userId === userId && each.id !== orderId);
    const stranger = orders.find((each) => each.userId !== userId);
    if (appointmentId && other && stranger)
      return { orderId, userId, appointmentId, otherId: other.id, strangerId: stranger.userId };
  }
  throw new Error('Nobody has two orders, one with an appointment.');
}

describe('appointments', () => {
  test('lead to their user, order and transaction, and details of orders lead to them', async () => {
    const { orderId, userId, appointmentId } = await findVisit();
    const { data, errors } = await lab.query(
      `{ order(id: "${orderId}") { transaction { id } details { appointment { id transactionId
         user { id } order { id } transaction { id } } } } }`,
    );
    expect(errors).toBeUndefined();
    const { transaction } = data.order;
    expect(data.order.details.appointment).toEqual({
      id: appointmentId,
      transactionId: transaction.id,
      user: { id: userId },
      order: { id: orderId },
      transaction,
    });
  });

  test('are found by id, those of one operation with one search; an unknown one is null', async () => {
    const { orderId, appointmentId } = await findVisit();
    const { data, errors } = await lab.query(
      `{ a: appointment(id: "${appointmentId}") { id orderId } b: appointment(id: "${appointmentId.toUpperCase()}") { id }
         none: appointment(id: "${crypto.randomUUID()}") { id } }`,
    );
    expect({ data, errors }).toEqual({
      data: { a: { id: appointmentId, orderId }, b: { id: appointmentId }, none: null },
      errors: undefined,
    });
    expect(lab.sandbox.calls.map((call) => call.replace(/\?.*/, ''))).toEqual([
      'GET /orders',
      expect.stringMatching(new RegExp(`^GET /v3/order/${orderId}/(psc|phlebotomy)/appointment$`)),
    ]);
    lab.sandbox.clearCalls();
    expect(codesOf(await lab.query('{ appointment(id: "27") { id } }'))).toEqual(['BAD_USER_INPUT']);
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('are found by their user, and by tokens for their order only', async () => {
    const { orderId, userId, appointmentId, otherId, strangerId } = await findVisit();
    const scopes = ['read:orders'];
    const ask = async (user: string, more: object) => {
      const token = await lab.tokenFor(user, { scopes, ...more });
      return await lab.query(`{ appointment(id: "${appointmentId}") { id } }`, { token });
    };
    const shown = { data: { appointment: { id: appointmentId } }, status: 200 };
    const hidden = { data: { appointment: null }, status: 200 };
    expect(await ask(userId, {})).toEqual(shown);
    expect(await ask(userId, { orderIds: [orderId] })).toEqual(shown);
    expect(await ask(userId, { orderIds: [otherId] })).toEqual(hidden);
    expect(await ask(strangerId, {})).toEqual(hidden);
    expect(codesOf(await ask(userId, { scopes: ['launch:portal'] }))).toEqual(['FORBIDDEN']);
  });
});

describe('the caller', () => {
  test('of a viewer token leads to its user; a server of the team has none', async () => {
    const [user] = lab.sandbox.users();
    const token = await lab.tokenFor(user?.userId ?? '');
    const query = '{ viewer { userId user { id clientUserId } } }';
    const { data } = await lab.query(query, { token });
    expect(data.viewer).toEqual({
      userId: user?.userId,
      user: { id: user?.userId, clientUserId: expect.any(String) },
    });
    expect((await lab.query(query)).data).toEqual({ viewer: { userId: null, user: null } });
    expect(lab.sandbox.calls).toEqual([`GET /v2/user/${user?.userId}`]);
  });

  test.each(transports)('follows its own orders without naming itself, over %s', async (_name, subscribe) => {
    const { userId } = await findVisit();
    const token = await lab.tokenFor(userId);
    const follow = (by: string, given: string) =>
      subscribe({
        url: lab.url,
        token: by,
        query: `subscription { userOrderUpdates${given} { cursor order { userId } } }`,
      });
    const own = await follow(token, '');
    const first = await own.next();
    await own.close();
    expect(first?.data.userOrderUpdates.order).toEqual({ userId });
    const named = await follow(
      token,
      `(userId: "${userId}", after: "${first?.data.userOrderUpdates.cursor}")`,
    );
    expect((await named.next())?.errors).toBeUndefined();
    await named.close();
    const team = await follow(gatewayKey, '');
    expect(codesOf({ errors: [...((await team.next())?.errors ?? [])] })).toEqual(['BAD_USER_INPUT']);
    await team.close();
  });
});

test('what the service reports leads to the user it is about, and orders that are reported again are there', async () => {
  const { orderId, userId } = await findVisit();
  const [[, subscribe]] = transports as readonly [(typeof transports)[number]];
  const query = 'subscription { events { userId user { id } } }';
  const events = await subscribe({ url: lab.url, token: gatewayKey, query });
  const next = events.next();
  const { data } = await lab.query(
    'mutation ($ids: [ID!]) { resendOrderEvents(input: { orderIds: $ids }) { ... on OrderEventsResent { orderIds orders { id } } } }',
    { variables: { ids: [orderId] } },
  );
  expect(data.resendOrderEvents).toEqual({ orderIds: [orderId], orders: [{ id: orderId }] });
  expect((await next)?.data.events).toEqual({ userId, user: { id: userId } });
  await events.close();
});
