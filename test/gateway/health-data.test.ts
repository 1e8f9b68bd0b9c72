import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../gateway/auth/rights.ts';
import { healthFactsOf } from '../../gateway/domain/health-data/actions.ts';
import { gatewayKey, type Lab, serviceKey, startLab } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const source = { name: 'Oura', slug: 'oura', logo: 'https://logos.example.com/oura.png' };
const wearer = (lab: Lab) => lab.sandbox.users()[0]?.userId ?? '';

/** Sends events one after the other, each received before the next is sent. */
async function send(lab: Lab, eventType: string, ...payloads: readonly unknown[]): Promise<void> {
  for (const payload of payloads) {
    lab.sandbox.webhooks.send(eventType, payload, { userId: wearer(lab) });
    await lab.sandbox.webhooks.settled();
  }
}

async function sendExamples(lab: Lab, userId: string): Promise<void> {
  await fetch(`${lab.serviceUrl}/sandbox/wearables`, {
    method: 'POST',
    headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: userId }),
  });
  await lab.sandbox.webhooks.settled();
}

function activity(id: string, steps: number, more: object = {}) {
  return {
    id,
    calendar_date: '2026-03-02',
    date: '2026-03-02T00:00:00+00:00',
    calories_active: 310.5,
    steps,
    timezone_offset: -25_200,
    high: null,
    source,
    ...more,
  };
}

function batch(samples: readonly (readonly [string, unknown])[], more: object = {}) {
  const data = samples.map(([timestamp, value]) => ({ timestamp, value, unit: 'mmol/L', type: null }));
  return { data, source_id: 3, source, ...more };
}

async function summariesOf(lab: Lab, args: string, fields = 'id activity { steps }', token?: string) {
  const answer = await lab.query(
    `{ user(id: "${wearer(lab)}") { rows: healthSummaries(${args}) { ${fields} } } }`,
    {
      ...(token === undefined ? {} : { token }),
    },
  );
  return answer.data?.user?.rows ?? answer;
}

async function samplesOf(lab: Lab, args: string, fields = 'timestamp value') {
  const answer = await lab.query(
    `{ user(id: "${wearer(lab)}") { rows: healthSamples(${args}) { ${fields} } } }`,
  );
  return answer.data?.user?.rows ?? answer;
}

describe('summaries', () => {
  test('show all the specification names, and the rest as it came', async () => {
    await using lab = await startLab();
    const payload = activity('s-1', 8000, { distance: 5100, new_figure: 7 });
    await send(lab, 'daily.data.activity.created', payload);
    const rows = await summariesOf(
      lab,
      'resource: "activity"',
      `id resource calendarDate date timezoneOffset source { name slug provider logo }
       activity { steps caloriesActive distance high } payload`,
    );
    expect(rows).toEqual([
      {
        id: 's-1',
        resource: 'activity',
        calendarDate: '2026-03-02',
        date: '2026-03-02T00:00:00.000Z',
        timezoneOffset: -25_200,
        source: { ...source, provider: 'oura' },
        activity: { steps: 8000, caloriesActive: 310.5, distance: 5100, high: null },
        payload,
      },
    ]);
  });

  test('of one id are one: the version received last, also of an earlier day', async () => {
    await using lab = await startLab();
    await send(lab, 'daily.data.activity.created', activity('s-1', 100), activity('s-2', 5));
    await send(
      lab,
      'daily.data.activity.updated',
      activity('s-1', 300),
      activity('s-1', 200, { calendar_date: '2026-02-01' }),
    );
    expect(await summariesOf(lab, 'resource: "activity"')).toEqual([
      { id: 's-2', activity: { steps: 5 } },
      { id: 's-1', activity: { steps: 200 } },
    ]);
  });

  test('are not changed by a repeated delivery of an older version', async () => {
    await using lab = await startLab();
    lab.sandbox.webhooks.knobs.duplicate = true;
    await send(lab, 'daily.data.activity.created', activity('s-1', 100));
    await send(lab, 'daily.data.activity.updated', activity('s-1', 300));
    expect(await summariesOf(lab, 'resource: "activity"')).toEqual([{ id: 's-1', activity: { steps: 300 } }]);
  });

  test('are found by day, both ends included, the latest first', async () => {
    await using lab = await startLab();
    const days = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'];
    await send(
      lab,
      'daily.data.activity.created',
      ...days.map((calendar_date, index) => activity(`s-${index}`, index, { calendar_date })),
    );
    const args = 'resource: "activity", from: "2026-03-02", to: "2026-03-03"';
    expect(await summariesOf(lab, args, 'calendarDate')).toEqual([
      { calendarDate: '2026-03-03' },
      { calendarDate: '2026-03-02' },
    ]);
    expect(await summariesOf(lab, 'resource: "sleep"', 'id')).toEqual([]);
  });

  test('without a day come last and are in no range', async () => {
    await using lab = await startLab();
    await send(
      lab,
      'daily.data.profile.created',
      { id: 'undated', height: 180 },
      { id: 'dated', calendar_date: '2001-02-03' },
    );
    const ids = async (args: string) =>
      (await summariesOf(lab, `resource: "profile"${args}`, 'id')).map(({ id }: { id: string }) => id);
    const today = new Date().toISOString().slice(0, 10);
    expect(await ids('')).toEqual(['dated', 'undated']);
    expect(await ids(', from: "1900-01-01"')).toEqual(['dated']);
    expect(await ids(`, to: "${today}"`)).toEqual(['dated']);
    expect(await ids(`, from: "${today}", to: "${today}"`)).toEqual([]);
  });

  test('may have a list of their own that holds no samples', async () => {
    await using lab = await startLab();
    const recording = { id: 'm-1', foo: 'bar', data: [{ lead: 'I', samples: [1, 2] }] };
    await send(lab, 'daily.data.mystery_list.created', recording, { id: 'm-2', data: [] });
    expect(await summariesOf(lab, 'resource: "mystery_list"', 'id payload')).toEqual(
      expect.arrayContaining([
        { id: 'm-1', payload: recording },
        { id: 'm-2', payload: { id: 'm-2', data: [] } },
      ]),
    );
  });

  test('of an unknown resource are stored all the same', async () => {
    await using lab = await startLab();
    await send(lab, 'daily.data.aura_reading.created', { id: 7, colour: 'green' });
    expect(await summariesOf(lab, 'resource: "aura_reading"', 'id activity { steps } payload')).toEqual([
      { id: '7', activity: null, payload: { id: 7, colour: 'green' } },
    ]);
  });
});

describe('samples', () => {
  test('of one provider, source type and instant are one: the value received last', async () => {
    await using lab = await startLab();
    await send(
      lab,
      'daily.data.glucose.created',
      batch([
        ['2026-03-02T08:00:00+00:00', 5],
        ['2026-03-02T09:00:00+00:00', 6],
      ]),
      batch([['2026-03-02T10:00:00+02:00', 7]]),
    );
    expect(await samplesOf(lab, 'resource: "glucose"')).toEqual([
      { timestamp: '2026-03-02T09:00:00.000Z', value: 6 },
      { timestamp: '2026-03-02T08:00:00.000Z', value: 7 },
    ]);
  });

  test('of another provider or source type are stored beside them', async () => {
    await using lab = await startLab();
    const at: readonly [string, number] = ['2026-03-02T08:00:00Z', 5];
    await send(
      lab,
      'daily.data.glucose.created',
      batch([at], { source: { provider: 'dexcom', type: 'cgm' } }),
      batch([at], { source: { provider: 'dexcom', type: 'fingerprick' } }),
      batch([at], { source: { provider: 'libre', type: 'cgm' } }),
      batch([at], { source: { provider: 'libre', type: 'cgm' } }),
    );
    const rows = await samplesOf(lab, 'resource: "glucose"', 'source { provider type }');
    expect(rows).toHaveLength(3);
  });

  test('of a source with empty texts, the defaults of the public service, have null there', async () => {
    await using lab = await startLab();
    const empty = { name: '', slug: '', logo: '' };
    const at = ['2026-03-02T08:00:00Z', '2026-03-02T09:00:00Z'] as const;
    await send(
      lab,
      'daily.data.glucose.created',
      batch([[at[0], 5]], { source: { ...empty, provider: 'oura', type: 'ring' } }),
      batch([[at[1], 6]], { source: empty }),
    );
    expect(await samplesOf(lab, 'resource: "glucose"', 'value source { name slug logo provider }')).toEqual([
      { value: 6, source: { name: null, slug: null, logo: null, provider: null } },
      { value: 5, source: { name: null, slug: null, logo: null, provider: 'oura' } },
    ]);
  });

  test('of a workout name the workout and its sport', async () => {
    await using lab = await startLab();
    const workout = { provider: 'garmin', type: 'watch', sport: 'running', workout_id: crypto.randomUUID() };
    await send(
      lab,
      'daily.data.workout_distance.created',
      batch([['2026-03-02T08:00:00Z', 5]], { source: workout }),
    );
    expect(
      await samplesOf(lab, 'resource: "workout_distance"', 'value source { provider type sport workoutId }'),
    ).toEqual([
      {
        value: 5,
        source: { provider: 'garmin', type: 'watch', sport: 'running', workoutId: workout.workout_id },
      },
    ]);
  });

  test('are found by instant, both ends included', async () => {
    await using lab = await startLab();
    const hours = ['08', '09', '10', '11'].map(
      (hour) => [`2026-03-02T${hour}:00:00Z`, Number(hour)] as const,
    );
    await send(lab, 'daily.data.steps.created', batch(hours));
    const args = 'resource: "steps", from: "2026-03-02T09:00:00Z", to: "2026-03-02T10:00:00Z"';
    expect(await samplesOf(lab, args, 'value unit sourceId source { slug }')).toEqual([
      { value: 10, unit: 'mmol/L', sourceId: '3', source: { slug: 'oura' } },
      { value: 9, unit: 'mmol/L', sourceId: '3', source: { slug: 'oura' } },
    ]);
  });

  test('that cannot be read take nothing with them', async () => {
    await using lab = await startLab();
    await send(lab, 'daily.data.heartrate.created', {
      data: [
        null,
        'x',
        { value: 1 },
        { timestamp: 'soon', value: 2 },
        { timestamp: '2026-03-02T08:00:00Z', value: 'high' },
      ],
      source: 'watch',
    });
    expect(await samplesOf(lab, 'resource: "heartrate"', 'timestamp value source { slug }')).toEqual([
      { timestamp: '2026-03-02T08:00:00.000Z', value: null, source: null },
    ]);
  });
});

describe('values that are no number', () => {
  const pressure = { timestamp: '2026-03-02T08:00:00Z', systolic: 120, diastolic: 80, unit: 'mmHg' };

  test('are in the payload of their sample, as they were sent', async () => {
    await using lab = await startLab();
    await send(lab, 'daily.data.blood_pressure.created', { data: [pressure], source });
    expect(await samplesOf(lab, 'resource: "blood_pressure"', 'value unit payload')).toEqual([
      { value: null, unit: 'mmHg', payload: pressure },
    ]);
  });

  test('are in the payload of their event, with what no sample could be made of', async () => {
    await using lab = await startLab();
    const events = await subscribeOverSse({
      url: lab.url,
      token: gatewayKey,
      query: `subscription { events { __typename
        ... on HealthSamplesReceived { samples { payload } payload } } }`,
    });
    const payload = { data: [pressure, 'lost', { lead: 'I' }], source, note: 'new' };
    await send(lab, 'daily.data.blood_pressure.created', payload);
    expect((await events.next())?.data.events).toEqual({
      __typename: 'HealthSamplesReceived',
      samples: [{ payload: pressure }, { payload: { lead: 'I' } }],
      payload,
    });
    await events.close();
  });
});

test('a range with more rows than one answer has is refused, never cut short', async () => {
  await using lab = await startLab();
  const start = Date.parse('2026-03-02T00:00:00Z');
  const rows = Array.from(
    { length: 2001 },
    (_, index) => [new Date(start + index * 1000).toISOString(), index] as const,
  );
  await send(lab, 'daily.data.heartrate.created', batch(rows));
  expect(await samplesOf(lab, 'resource: "heartrate"')).toMatchObject({
    errors: [
      { message: expect.stringContaining('more than 2,000'), extensions: { code: 'QUERY_TOO_COSTLY' } },
    ],
  });
  const all = await samplesOf(lab, 'resource: "heartrate", from: "2026-03-02T00:00:01Z"');
  expect(all).toHaveLength(2000);
});

describe('a viewer', () => {
  test('reads its own health data with the scope read:health, and nobody else’s', async () => {
    await using lab = await startLab();
    await send(lab, 'daily.data.activity.created', activity('s-1', 100));
    const own = await lab.tokenFor(wearer(lab), { scopes: ['read:orders', 'read:health'] });
    const other = await lab.tokenFor(lab.sandbox.users()[1]?.userId ?? '', {
      scopes: ['read:orders', 'read:health'],
    });
    expect(await summariesOf(lab, 'resource: "activity"', 'id', own)).toEqual([{ id: 's-1' }]);
    expect(await summariesOf(lab, 'resource: "activity"', 'id', other)).toMatchObject({
      data: { user: null },
    });
  });

  test('reads the payload of a profile, which has a birth date, only with read:profile', async () => {
    await using lab = await startLab();
    const profile = { id: 'p-1', calendar_date: '2026-03-02', height: 180, birth_date: '1990-01-01' };
    await send(lab, 'daily.data.profile.created', profile);
    await send(lab, 'daily.data.Profile.created', profile);
    await send(lab, 'daily.data.body.created', { id: 'b-1', weight: 70 });
    const ask = async (scopes: readonly Scope[]) => {
      const token = await lab.tokenFor(wearer(lab), { scopes });
      return await lab.query(
        `{ viewer { user {
          profile: healthSummaries(resource: "profile") { id payload }
          capital: healthSummaries(resource: "Profile") { id payload }
          body: healthSummaries(resource: "body") { payload } } } }`,
        { token },
      );
    };
    const body = [{ payload: { id: 'b-1', weight: 70 } }];
    const refused = [{ id: 'p-1', payload: null }];
    const shown = [{ id: 'p-1', payload: profile }];

    const without = await ask(['read:orders', 'read:health']);
    expect(without.data?.viewer.user).toEqual({ profile: refused, capital: refused, body });
    expect(without.errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
      ['viewer.user.profile.0.payload', 'FORBIDDEN'],
      ['viewer.user.capital.0.payload', 'FORBIDDEN'],
    ]);

    const withProfile = await ask(['read:orders', 'read:health', 'read:profile']);
    expect(withProfile.data?.viewer.user).toEqual({ profile: shown, capital: shown, body });
  });

  test('without the scope gets an error that names the scope', async () => {
    await using lab = await startLab();
    const token = await lab.tokenFor(wearer(lab));
    for (const answer of [
      await summariesOf(lab, 'resource: "activity"', 'id', token),
      await lab.query(`{ workoutStream(workoutId: "${crypto.randomUUID()}") { workoutId } }`, { token }),
    ]) {
      expect(answer).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
      expect(answer.errors[0].message).toContain('read:health');
    }
  });

  test('reads the stream of a workout once a webhook has named it as its own', async () => {
    await using lab = await startLab();
    const [one, two] = lab.sandbox.users();
    const scopes = ['read:orders', 'read:health'];
    const [mine, theirs] = [
      await lab.tokenFor(one?.userId ?? '', { scopes }),
      await lab.tokenFor(two?.userId ?? '', { scopes }),
    ];
    const events = await subscribeOverSse({
      url: lab.url,
      token: gatewayKey,
      query:
        'subscription { events(types: ["daily.data.workout_stream.created"]) { ... on WorkoutStreamReady { workoutId } } }',
    });
    await sendExamples(lab, one?.userId ?? '');
    const { workoutId } = (await events.next())?.data.events ?? {};
    await events.close();
    const ask = async (id: string, token: string) =>
      (
        await lab.query(`{ workoutStream(workoutId: "${id}") { workoutId heartRate time latitude } }`, {
          token,
        })
      ).data;

    const own = (await ask(workoutId, mine)).workoutStream;
    expect(own.workoutId).toBe(workoutId);
    expect(own.heartRate.slice(0, 2)).toEqual([null, null]);
    expect([own.time, own.latitude].map(({ length }) => length)).toEqual([120, 120]);
    expect((await ask(workoutId, gatewayKey)).workoutStream).toEqual(own);
    const calls = lab.sandbox.calls.length;
    expect(await ask(workoutId, theirs)).toEqual({ workoutStream: null });
    expect(await ask(crypto.randomUUID(), theirs)).toEqual({ workoutStream: null });
    expect(lab.sandbox.calls).toHaveLength(calls);
  });
});

describe('the stream of a workout', () => {
  const fields = 'workoutId time heartRate altitude power';

  test('is null for the team where there is none', async () => {
    await using lab = await startLab();
    const answer = await lab.query(`{ workoutStream(workoutId: "${crypto.randomUUID()}") { ${fields} } }`);
    expect(answer).toEqual({ data: { workoutStream: null }, status: 200 });
  });

  test('keeps the places of rows that cannot be read', async () => {
    await using lab = await startLab();
    const body = JSON.stringify({ time: [1, 'x', 1e300], heartrate: [90.5, {}, 91], altitude: null, new: 1 });
    lab.sandbox.faults.add({ path: '/v2/timeseries', effect: { kind: 'answer', status: 200, body } });
    const workoutId = crypto.randomUUID();
    const answer = await lab.query(`{ workoutStream(workoutId: "${workoutId}") { ${fields} } }`);
    expect(answer.errors).toBeUndefined();
    expect(answer.data.workoutStream).toEqual({
      workoutId,
      time: ['1970-01-01T00:00:01.000Z', null, null],
      heartRate: [90.5, null, 91],
      altitude: [],
      power: [],
    });
  });

  test('that the service fails to give is a fault, not nothing', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({ path: '/v2/timeseries', effect: { kind: 'answer', status: 501, body: '{}' } });
    const answer = await lab.query(`{ workoutStream(workoutId: "${crypto.randomUUID()}") { workoutId } }`);
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'UPSTREAM_UNAVAILABLE' } });
    const wrong = await lab.query('{ workoutStream(workoutId: "7") { workoutId } }');
    expect(wrong.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });
});

test('the team receives wearable events, each in its own type', async () => {
  await using lab = await startLab();
  const userId = wearer(lab);
  const events = await subscribeOverSse({
    url: lab.url,
    token: gatewayKey,
    query: `subscription { events { __typename type userId
      ... on HealthSummaryReceived { resource isUpdate summary { id activity { steps } receivedAt } }
      ... on HealthSamplesReceived { resource isUpdate samples { value timestamp } }
      ... on WorkoutStreamReady { workoutId providerId message sport { slug } source { slug } stream { workoutId } }
      ... on ConnectionChanged { isConnected source { slug } errorType errorTypeRaw errorMessage errorDetails externalUserId
        resources { resource status scopeRequirements { userGranted { required optional } userDenied { required } } } }
      ... on HistoricalPullCompleted { resource startDate endDate isFinal source { slug } }
      ... on UnknownEvent { payload } } }`,
  });
  const next = async () => (await events.next())?.data.events;

  await send(lab, 'daily.data.activity.updated', activity('s-1', 9));
  expect(await next()).toMatchObject({
    __typename: 'HealthSummaryReceived',
    userId,
    resource: 'activity',
    isUpdate: true,
    summary: { id: 's-1', activity: { steps: 9 } },
  });
  await send(lab, 'daily.data.glucose.created', batch([['2026-03-02T08:00:00Z', 5]]));
  expect(await next()).toMatchObject({
    __typename: 'HealthSamplesReceived',
    resource: 'glucose',
    isUpdate: false,
    samples: [{ value: 5, timestamp: '2026-03-02T08:00:00.000Z' }],
  });
  const workout = {
    workout_id: crypto.randomUUID(),
    provider_id: 'p-1',
    message: 'Ready.',
    sport: { id: 1, slug: 'running' },
  };
  await send(lab, 'daily.data.workout_stream.created', { ...workout, source });
  expect(await next()).toMatchObject({
    __typename: 'WorkoutStreamReady',
    workoutId: workout.workout_id,
    sport: { slug: 'running' },
    source: { slug: 'oura' },
    stream: null,
  });
  await send(lab, 'provider.connection.created', {
    source,
    external_user_id: 'x-1',
    resource_availability: {
      sleep: {
        status: 'available',
        scope_requirements: { user_granted: { required: ['daily'], optional: [7] }, user_denied: null },
      },
      body: 'unreadable',
      weight: { status: 'unheard_of', scope_requirements: 'all' },
    },
  });
  expect(await next()).toMatchObject({
    __typename: 'ConnectionChanged',
    isConnected: true,
    source: { slug: 'oura' },
    externalUserId: 'x-1',
    errorType: null,
    errorTypeRaw: null,
    errorDetails: null,
    resources: [
      {
        resource: 'sleep',
        status: 'AVAILABLE',
        scopeRequirements: {
          userGranted: { required: ['daily'], optional: [] },
          userDenied: { required: [] },
        },
      },
      { resource: 'weight', status: null, scopeRequirements: null },
    ],
  });
  await send(lab, 'provider.connection.error', {
    provider: 'fitbit',
    error_type: 'brand_new_error',
    message: 'Reconnect.',
    error_details: 'Failed to pull the data.',
  });
  expect(await next()).toMatchObject({
    isConnected: false,
    source: { slug: 'fitbit' },
    errorType: null,
    errorTypeRaw: 'brand_new_error',
    errorMessage: 'Reconnect.',
    errorDetails: 'Failed to pull the data.',
    resources: [],
  });
  await send(lab, 'provider.connection.error', { provider: 'fitbit', error_type: 'token_refresh_failed' });
  expect(await next()).toMatchObject({
    errorType: 'TOKEN_REFRESH_FAILED',
    errorTypeRaw: 'token_refresh_failed',
  });
  await send(lab, 'provider.connection.restored', { provider: 'fitbit' });
  expect(await next()).toMatchObject({ __typename: 'UnknownEvent', payload: { provider: 'fitbit' } });
  const pull = {
    start_date: '2026-01-01T00:00:00Z',
    end_date: '2026-03-01T00:00:00Z',
    provider: 'fitbit',
    is_final: true,
  };
  await send(lab, 'historical.data.sleep.created', pull);
  expect(await next()).toMatchObject({
    __typename: 'HistoricalPullCompleted',
    resource: 'sleep',
    isFinal: true,
    source: { slug: 'fitbit' },
    endDate: '2026-03-01T00:00:00.000Z',
  });
  await send(lab, 'daily.data.glucose.created', { value: 1 });
  expect(await next()).toMatchObject({ __typename: 'UnknownEvent', payload: { value: 1 } });
  await send(lab, 'daily.data.workout_stream.created', { id: 'no workout', data: [] });
  expect(await next()).toMatchObject({ __typename: 'UnknownEvent' });
  await events.close();
});

test('what an event states can be read from anything, and is either well formed or nothing', () => {
  const types = fc.oneof(
    fc.constantFrom(
      'daily.data.activity.created',
      'daily.data.workout_stream.updated',
      'labtest.order.created',
    ),
    fc.string(),
  );
  const payloads = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        id: fc.jsonValue(),
        data: fc.array(
          fc.oneof(fc.jsonValue(), fc.record({ timestamp: fc.string(), value: fc.jsonValue() })),
        ),
        source: fc.jsonValue(),
        workout_id: fc.jsonValue(),
        calendar_date: fc.string(),
        date: fc.string(),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(types, payloads, (type, payload) => {
      for (const { kind, key, at, value } of healthFactsOf(type, payload)) {
        expect([kind, key].every((text) => text.length > 0)).toBe(true);
        expect(at === null || !Number.isNaN(at.getTime())).toBe(true);
        expect(JSON.stringify(value)).toBeTypeOf('string');
      }
    }),
    { numRuns: 500 },
  );
});
