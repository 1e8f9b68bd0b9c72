import { expect, test } from 'vitest';
import { Rights } from '../../../gateway/auth/rights.ts';
import { listUsers } from '../../../gateway/domain/user/rest.ts';
import { bindService } from '../../../gateway/service/service.ts';
import {
  type Answer,
  json,
  type OpenUpstream,
  openUpstream,
  startMisbehavingService,
  text,
} from '../../support/misbehaving-service.ts';

const users = json({ users: [{ user_id: 'u-1', client_user_id: 'a' }], total: 1 });
const notFound = json({ detail: 'Not Found' }, 404);
const redirectTo = (location: string, status = 307) => text('', status, { location });

/** Asks for the users, with or without reading what an earlier call has read. */
function askFor({ upstream }: OpenUpstream, offset = 0) {
  const service = bindService(upstream, { rights: new Rights({ kind: 'TEAM' }) });
  return listUsers(service, { offset, limit: 5 });
}

const withSlash = 'GET /v2/user/?offset=0&limit=5';
const without = 'GET /v2/user?offset=0&limit=5';

test.each<readonly [string, Answer]>([
  ['is not found', notFound],
  ['is redirected (307)', redirectTo('/v2/user?offset=0&limit=5')],
  ['is redirected (308)', redirectTo('http://elsewhere.invalid/v2/user', 308)],
  ['is redirected (301)', redirectTo('/v2/user', 301)],
])(
  'where the list of users with a slash %s, the one without is asked, and first from then on',
  async (_name, refusal) => {
    await using open = await openUpstream([refusal, users]);

    expect((await askFor(open)).rows).toMatchObject([{ id: 'u-1' }]);
    expect((await askFor(open)).rows).toMatchObject([{ id: 'u-1' }]);

    expect(open.service.calls()).toEqual([withSlash, without, without]);
  },
);

test('where the path with a slash is found, no other is asked', async () => {
  await using open = await openUpstream([users]);
  await askFor(open);
  await askFor(open);
  expect(open.service.calls()).toEqual([withSlash, withSlash]);
});

test('where neither path is found, the refusal is passed on, and the specification’s path is tried first again', async () => {
  await using open = await openUpstream([notFound]);
  await expect(askFor(open)).rejects.toMatchObject({ code: 'UPSTREAM_REJECTED', status: 404 });
  open.service.willAnswer(redirectTo('/login'));
  await expect(askFor(open)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE', status: 307 });
  expect(open.service.calls()).toEqual([withSlash, without, withSlash, without]);
});

test('a path that is no longer found is replaced by the other', async () => {
  await using open = await openUpstream([notFound, users, notFound, users]);
  await askFor(open);
  await askFor(open);
  await askFor(open);
  expect(open.service.calls()).toEqual([withSlash, without, without, withSlash, withSlash]);
});

test.each([403, 422, 500])('a failure (%d) is no reason to try the other path', async (status) => {
  await using open = await openUpstream([json({}, status)], { deadlineMs: 500, retryDelayMs: 600 });
  await expect(askFor(open)).rejects.toThrow();
  expect(open.service.calls()).toEqual([withSlash]);
});

test('no redirect is followed: the key is sent to no other address', async () => {
  await using stranger = await startMisbehavingService(users);
  await using open = await openUpstream([redirectTo(`${stranger.url}/v2/user`), users]);
  await askFor(open);
  expect(stranger.calls()).toEqual([]);
});
