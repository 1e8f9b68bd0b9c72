import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const idOf = (lab: Lab, index: number) => lab.sandbox.users()[index]?.userId ?? '';

const connections = `connections { source { name slug logo } createdAt status statusRaw externalUserId
  error { type typeRaw message occurredAt } resources { resource status statusRaw } }`;

function answerWith(lab: Lab, path: string | RegExp, body: unknown) {
  lab.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
}

test('connections say how they are, and a broken one why', async () => {
  await using lab = await startLab();
  const answer = await lab.query(`{ user(id: "${idOf(lab, 2)}") { ${connections} } }`);
  expect(answer.data.user.connections).toEqual([
    {
      source: { name: 'Garmin', slug: 'garmin', logo: 'https://logos.example.com/garmin.png' },
      createdAt: '2025-01-20T09:00:00.000Z',
      status: 'CONNECTED',
      statusRaw: 'connected',
      externalUserId: null,
      error: null,
      resources: [
        { resource: 'activity', status: 'AVAILABLE', statusRaw: 'available' },
        { resource: 'workouts', status: 'AVAILABLE', statusRaw: 'available' },
        { resource: 'stress_level', status: 'AVAILABLE', statusRaw: 'available' },
      ],
    },
    {
      source: {
        name: 'Dexcom (G6 and older)',
        slug: 'dexcom_v3',
        logo: 'https://logos.example.com/dexcom_v3.png',
      },
      createdAt: '2025-01-20T09:00:00.000Z',
      status: 'ERROR',
      statusRaw: 'error',
      externalUserId: null,
      error: {
        type: 'TOKEN_REFRESH_FAILED',
        typeRaw: 'token_refresh_failed',
        message: 'The provider no longer accepts the access that the user gave.',
        occurredAt: '2025-02-19T09:00:00.000Z',
      },
      resources: [{ resource: 'glucose', status: 'UNAVAILABLE', statusRaw: 'unavailable' }],
    },
  ]);
});

test('a user without connections has none, and one failing read costs no other', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: `/v2/user/providers/${idOf(lab, 0)}`, effect: { kind: 'serverError' } });
  const answer = await lab.query(`{ a: user(id: "${idOf(lab, 0)}") { id connections { status } }
    b: user(id: "${idOf(lab, 6)}") { connections { status } } }`);
  expect(answer.data).toEqual({ a: { id: idOf(lab, 0), connections: null }, b: { connections: [] } });
  expect(answer.errors?.map(({ path }) => path)).toEqual([['a', 'connections']]);
});

test('connections with unknown values and broken parts keep their places in the list', async () => {
  await using lab = await startLab();
  answerWith(lab, /user\/providers/, {
    providers: [
      {
        slug: 'new',
        status: 'sleeping',
        error_details: 'odd',
        resource_availability: { sleep: 1, body: {} },
      },
      { name: 5, status: null, logo: 'javascript:alert(1)', error_details: { error_type: 'boredom' } },
      'nothing',
      null,
    ],
  });
  const answer = await lab.query(`{ user(id: "${idOf(lab, 0)}") { ${connections} } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.user.connections).toMatchObject([
    {
      source: { slug: 'new', name: null },
      status: null,
      statusRaw: 'sleeping',
      error: null,
      resources: [{ resource: 'body', status: null, statusRaw: null }],
    },
    { source: { name: null, logo: null }, status: null, error: { type: null, typeRaw: 'boredom' } },
  ]);
});

const pullFields = `providerSlug notPulled pulls { resource status statusRaw rangeStart rangeEnd scheduledAt
  startedAt endedAt daysWithData error errorRaw }`;

test('backfills are shown by provider and resource, the retrying ones with their reason', async () => {
  await using lab = await startLab();
  const pull = (status: string, error_details?: string) => ({
    status,
    error_details,
    days_with_data: 70,
    range_start: '2023-07-24T00:00:00+00:00',
    timeline: { scheduled_at: '2023-10-24T13:52:51+00:00', started_at: null },
  });
  answerWith(lab, /historical_pull/, {
    data: [
      {
        user_id: idOf(lab, 0),
        provider: {
          fitbit: {
            pulled: {
              sleep: pull('retrying', 'provider_rate_limit_exceeded'),
              steps: pull('paused', 'sun_spots'),
              body: { timeline: 'late' },
              odd: 5,
            },
            not_pulled: ['blood_oxygen', 7],
          },
          garmin: 'none',
        },
      },
    ],
    next_cursor: null,
  });
  const answer = await lab.query(`{ user(id: "${idOf(lab, 0)}") { historicalPulls { ${pullFields} } } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.user.historicalPulls).toMatchObject([
    {
      providerSlug: 'fitbit',
      notPulled: ['blood_oxygen'],
      pulls: [
        {
          resource: 'sleep',
          status: 'RETRYING',
          statusRaw: 'retrying',
          rangeStart: '2023-07-24T00:00:00.000Z',
          rangeEnd: null,
          scheduledAt: '2023-10-24T13:52:51.000Z',
          startedAt: null,
          endedAt: null,
          daysWithData: 70,
          error: 'PROVIDER_RATE_LIMIT_EXCEEDED',
          errorRaw: 'provider_rate_limit_exceeded',
        },
        { resource: 'steps', status: null, statusRaw: 'paused', error: null, errorRaw: 'sun_spots' },
        { resource: 'body', status: null, statusRaw: null, scheduledAt: null },
      ],
    },
  ]);
});

test('backfills of one user are one call, filtered by provider where that is asked for', async () => {
  await using lab = await startLab();
  const id = idOf(lab, 0);
  const answer = await lab.query(`{ user(id: "${id}") {
    all: historicalPulls { providerSlug } some: historicalPulls(providerSlug: "oura") { providerSlug pulls { resource } } } }`);
  expect(answer.data.user.all).toEqual([{ providerSlug: 'oura' }, { providerSlug: 'withings' }]);
  expect(answer.data.user.some).toMatchObject([{ providerSlug: 'oura' }]);
  expect(lab.sandbox.calls.filter((call) => call.includes('historical_pull'))).toEqual([
    `GET /v2/introspect/historical_pull?user_id=${id}&user_limit=1`,
    `GET /v2/introspect/historical_pull?user_id=${id}&provider=oura&user_limit=1`,
  ]);
});

test('a user is found behind empty pages, and an endless walk ends', async () => {
  await using lab = await startLab();
  const id = idOf(lab, 0);
  answerWith(lab, /historical_pull\?user_id=[^&]+&user_limit=1$/, { data: [], next_cursor: 'two' });
  answerWith(lab, /next_cursor=two/, { data: [{ user_id: id, provider: { oura: {} } }], next_cursor: null });
  const query = `{ user(id: "${id}") { historicalPulls { providerSlug pulls { resource } notPulled } } }`;
  expect((await lab.query(query)).data.user.historicalPulls).toEqual([
    { providerSlug: 'oura', pulls: [], notPulled: [] },
  ]);
  lab.sandbox.faults.clear();
  lab.sandbox.clearCalls();
  for (const page of [5, 4, 3, 2, 1]) {
    answerWith(lab, new RegExp(`next_cursor=${page}$`), { data: [], next_cursor: String(page + 1) });
  }
  answerWith(lab, /historical_pull/, { data: [], next_cursor: '1' });
  expect((await lab.query(query)).data.user.historicalPulls).toEqual([]);
  expect(lab.sandbox.calls.filter((call) => call.includes('historical_pull'))).toHaveLength(5);
});

const page = `query ($first: Int, $after: String) { historicalPulls(first: $first, after: $after) {
  nodes { userId user { id } providers { providerSlug } } pageInfo { hasNextPage endCursor } } }`;

test.each([1, 3, 20, 100])(
  'all backfills are read page by page of %i, empty ones on the way',
  async (first) => {
    await using lab = await startLab();
    const seen: string[] = [];
    let after: string | null = null;
    for (let isMore = true; isMore; ) {
      const answer = await lab.query(page, { variables: { first, after } });
      const { nodes, pageInfo } = answer.data.historicalPulls;
      for (const node of nodes) {
        expect(node.user.id).toBe(node.userId);
        seen.push(node.userId);
      }
      isMore = pageInfo.hasNextPage;
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual([0, 1, 2, 4, 14].map((index) => idOf(lab, index)));
  },
);

test('a browser sees only its own backfills, even when the service lists others', async () => {
  await using lab = await startLab();
  const [mine, theirs] = [idOf(lab, 0), idOf(lab, 1)];
  const token = await lab.tokenFor(mine, { scopes: ['read:profile', 'read:orders'] });
  const own = await lab.query(page, { token });
  expect(own.data.historicalPulls.nodes.map(({ userId }: { userId: string }) => userId)).toEqual([mine]);
  expect(lab.sandbox.calls).toContain(`GET /v2/introspect/historical_pull?user_id=${mine}&user_limit=20`);
  answerWith(lab, /historical_pull/, {
    data: [
      { user_id: theirs, provider: {} },
      { user_id: mine, provider: {} },
    ],
    next_cursor: null,
  });
  const filtered = await lab.query('{ historicalPulls { totalCount nodes { userId } } }', { token });
  expect(filtered.data.historicalPulls.nodes).toEqual([{ userId: mine }]);
});

test('without the scope of profiles a browser sees neither connections nor backfills', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(idOf(lab, 0));
  const answer = await lab.query(
    `{ user(id: "${idOf(lab, 0)}") { id connections { status } historicalPulls { providerSlug } } }`,
    { token },
  );
  expect(answer.data.user).toEqual({ id: idOf(lab, 0), connections: null, historicalPulls: null });
  expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
});
