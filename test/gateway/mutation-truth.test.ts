import { describe, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { json, reset, text } from '../support/misbehaving-service.ts';
import { withInput } from './mutations/row.ts';
import { callOf, rowOf } from './mutations/rows.ts';
import { orderAt } from './mutations/upkeep-rows.ts';
import { openWorld } from './mutations/world.ts';

const faults = [
  ['a 500', text('', 500), false],
  ['a cut connection', reset, true],
] as const;

describe('a state that existed before is not taken for the effect of a lost call:', () => {
  test.each(faults)('cancelOrder of a cancelled order, with %s', async (_, answer, mayHaveBeenDone) => {
    const row = rowOf('cancelOrder');
    await using world = await openWorld(row);
    await world.call(world.variables);
    world.lab.spoil({ at: callOf(row), isDone: false, answer });
    expect(await world.call(world.variables)).toMatchObject({
      word: 'UPSTREAM_UNAVAILABLE',
      mayHaveBeenDone,
    });
  });

  test.each(faults)('updateOrder of an order on its way, with %s', async (_, answer, mayHaveBeenDone) => {
    const row = rowOf('updateOrder');
    await using world = await openWorld(row);
    world.lab.spoil({ at: callOf(row), isDone: false, answer });
    const id = orderAt(world.lab, 'testkit.transit_customer');
    const result = await world.call({ input: { id, activateBy: null } });
    expect(result).toMatchObject({ word: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone });
  });

  test.each(faults)('registerTestkit of a kit that another patient has, with %s', async (_, answer) => {
    const row = rowOf('registerTestkit');
    await using world = await openWorld(row);
    await world.call(world.variables);
    world.lab.spoil({ at: callOf(row), isDone: false, answer });
    const { patientDetails } = world.variables.input as { readonly patientDetails: object };
    const other = withInput(world.variables, { patientDetails: { ...patientDetails, firstName: 'Ada' } });
    expect((await world.call(other)).word).toBe('UPSTREAM_UNAVAILABLE');
  });

  test.each(faults)(
    'undoUserDeletion of a user who is there, with %s',
    async (_, answer, mayHaveBeenDone) => {
      const row = rowOf('undoUserDeletion');
      await using world = await openWorld(row);
      await world.call(world.variables);
      world.lab.spoil({ at: callOf(row), isDone: false, answer });
      expect(await world.call(world.variables)).toMatchObject({
        word: 'UPSTREAM_UNAVAILABLE',
        mayHaveBeenDone,
      });
    },
  );
});

describe('a refusal is reported as itself:', () => {
  const createUser = rowOf('createUser');

  test.each([
    ['within detail', (taken: object) => ({ detail: taken })],
    ['by themselves', (taken: object) => taken],
    ['as a whole user', (taken: object) => ({ ...taken, client_user_id: 'x', connected_sources: [] })],
  ])('a user who has the reference already, named %s', async (_, shape) => {
    await using world = await openWorld(createUser);
    const taken = { user_id: crypto.randomUUID(), created_on: '2026-01-01T00:00:00+00:00' };
    world.lab.spoil({ at: callOf(createUser), isDone: false, answer: json(shape(taken), 400) });
    const result = await world.call(world.variables);
    expect(result.answer.data?.result).toMatchObject({
      __typename: 'ClientUserIdTaken',
      existingUserId: taken.user_id,
    });
  });

  test.each([
    ['nothing', {}],
    ['a text', 'no'],
    ['another reason', { detail: 'The quota is used up.' }],
  ])('a 400 with %s makes no user', async (_, body) => {
    await using world = await openWorld(createUser);
    world.lab.spoil({ at: callOf(createUser), isDone: false, answer: json(body, 400) });
    expect((await world.call(world.variables)).word).toBe('InputRejected');
  });

  test.each([400, 409])('cancelOrder that the status does not allow (%d)', async (status) => {
    const row = rowOf('cancelOrder');
    await using world = await openWorld(row);
    world.lab.spoil({ at: callOf(row), isDone: false, answer: json({ detail: 'No.' }, status) });
    expect((await world.call(world.variables)).word).toBe('CancelRefused');
  });

  const byIdOnly = ['cancelOrder', 'deleteUser'].flatMap((mutation) =>
    [405, 410, 413, 422].map((status) => ({ mutation, status, word: 'InputRejected' })),
  );
  const closed = ['cancelOrder', 'deleteUser', 'createUser', 'updateUser', 'undoUserDeletion'].flatMap(
    (mutation) => [402, 403].map((status) => ({ mutation, status, word: 'FeatureNotEnabled' })),
  );
  test.each([...byIdOnly, ...closed])(
    '$mutation that $status refuses is $word',
    async ({ mutation, status, word }) => {
      const row = rowOf(mutation);
      await using world = await openWorld(row);
      world.lab.spoil({ at: callOf(row), isDone: false, answer: json({ detail: 'No.' }, status) });
      expect((await world.call(world.variables)).word).toBe(word);
    },
  );

  test.each([400, 409])('deleteUser that the service does not allow (%d)', async (status) => {
    const row = rowOf('deleteUser');
    await using world = await openWorld(row);
    world.lab.spoil({ at: callOf(row), isDone: false, answer: json({ detail: 'No.' }, status) });
    expect((await world.call(world.variables)).word).toBe('InputRejected');
  });
});

describe('an input that is refused is named:', () => {
  test('a day that is over, for createOrder', async () => {
    await using world = await openWorld(rowOf('createOrder'));
    const result = await world.call(withInput(world.variables, { activateBy: '2020-01-01' }));
    expect(result).toMatchObject({ word: 'InputRejected', issues: [{ path: ['activateBy'] }] });
  });

  test('a kit that is registered already', async () => {
    await using world = await openWorld(rowOf('registerTestkit'));
    await world.call(world.variables);
    const result = await world.call(world.variables);
    expect(result).toMatchObject({ word: 'InputRejected', issues: [{ path: ['sampleId'] }] });
  });

  test('a wait of less than nothing, for simulateOrder', async () => {
    await using world = await openWorld(rowOf('simulateOrder'));
    const result = await world.call({ ...world.variables, delaySeconds: -5 });
    expect(result).toMatchObject({ word: 'InputRejected', issues: [{ path: ['delaySeconds'] }] });
  });
});

test.each([
  ['interpretationRaw', '"KESTREL"'],
  ['collectionMethodsRaw', '["KESTREL"]'],
])('a filter that the service refuses is named in a query, without its value: %s', async (name, value) => {
  await using lab = await startLab();
  const answer = await lab.query(`{ orders(first: 1, filter: { ${name}: ${value} }) { totalCount } }`);
  expect(answer.errors).toMatchObject([
    {
      message: `The service does not accept the value of filter.${name}.`,
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ]);
});

test.each([
  'phlebotomyAvailability(input: { address: { firstLine: "1 Way", city: "Phoenix", state: "AZ", zip: "85004" }, startDate: "2020-01-01" }) { date }',
  'serviceCenterAvailability(input: { lab: QUEST, zipCode: "85004", startDate: "2020-01-01" }) { date }',
])('a first day that is over is named in a query: %s', async (field) => {
  await using lab = await startLab();
  const answer = await lab.query(`{ ${field} }`);
  const message = 'input.startDate must be a day that is not over yet.';
  expect(answer.errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
});
