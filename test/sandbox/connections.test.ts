import { expect, test } from 'vitest';
import { at, openSandbox } from './support.ts';

interface PullPage {
  readonly data: readonly {
    readonly user_id: string;
    readonly provider: Readonly<
      Record<string, { readonly pulled: Readonly<Record<string, { readonly status: string }>> }>
    >;
  }[];
  readonly next_cursor: string | null;
}

const path = '/v2/introspect/historical_pull';

test('Connected providers are listed with their state; a broken one says why', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 2);
  const { status, body } = await service.ask('GET', `/v2/user/providers/${userId}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    providers: [
      {
        name: 'Garmin',
        slug: 'garmin',
        status: 'connected',
        error_details: null,
        resource_availability: {
          activity: {
            status: 'available',
            scope_requirements: {
              user_granted: { required: ['activity.read'], optional: [] },
              user_denied: { required: [], optional: ['activity.details'] },
            },
          },
        },
      },
      {
        slug: 'dexcom_v3',
        status: 'error',
        error_details: { error_type: 'token_refresh_failed', errored_at: '2025-02-19T09:00:00+00:00' },
        resource_availability: { glucose: { status: 'unavailable' } },
      },
    ],
  });
  const lonely = at(service.sandbox.users(), 6).userId;
  expect((await service.ask('GET', `/v2/user/providers/${lonely}`)).body).toEqual({ providers: [] });
  expect((await service.ask('GET', `/v2/user/providers/${crypto.randomUUID()}`)).status).toBe(404);
});

test('Backfills of one user name provider, resource, state and times', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 0);
  const { body } = await service.ask<PullPage>('GET', `${path}?user_id=${userId}`);
  expect(body.next_cursor).toBeNull();
  expect(body.data.map((row) => row.user_id)).toEqual([userId]);
  expect(Object.keys(at(body.data, 0).provider)).toEqual(['oura', 'withings']);
  const { body: filtered } = await service.ask<PullPage>('GET', `${path}?user_id=${userId}&provider=oura`);
  expect(Object.keys(at(filtered.data, 0).provider)).toEqual(['oura']);
});

test('Pages of backfills fit together, with fewer users than asked for or none on the way', async () => {
  await using service = openSandbox();
  const whole = await service.ask<PullPage>('GET', path);
  const rows: unknown[] = [];
  const sizes: number[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `&next_cursor=${cursor}`;
    const { body }: { body: PullPage } = await service.ask<PullPage>('GET', `${path}?user_limit=3${next}`);
    rows.push(...body.data);
    sizes.push(body.data.length);
    cursor = body.next_cursor;
  }
  expect(rows).toEqual(whole.body.data);
  expect(sizes).toEqual([3, 1, 0, 0, 1, 0, 0]);
});

test('Every state of a backfill is there somewhere, retrying too', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<PullPage>('GET', path);
  const states = body.data.flatMap((row) =>
    Object.values(row.provider).flatMap(({ pulled }) => Object.values(pulled).map(({ status }) => status)),
  );
  expect(new Set(states)).toEqual(new Set(['success', 'failure', 'in_progress', 'scheduled', 'retrying']));
});

test.each(['user_limit=0', 'user_limit=x', 'user_id=zzz', 'next_cursor=zzz'])(
  'Backfills refuse %s',
  async (query) => {
    await using service = openSandbox();
    expect((await service.ask('GET', `${path}?${query}`)).status).toBe(422);
  },
);
