import { describe, expect, test } from 'vitest';
import { type Caller, type Owner, Rights } from '../../../gateway/auth/rights.ts';
import { GatewayError } from '../../../gateway/errors.ts';
import type { Page } from '../../../gateway/service/calls.ts';
import { bindService, type ServiceOptions } from '../../../gateway/service/service.ts';
import { type Answer, json, openUpstream } from '../../support/misbehaving-service.ts';

interface Row {
  readonly id: string;
  readonly userId: string | null;
}

const [me, other] = ['0f2c8f5e-0000-4000-8000-000000000001', '0f2c8f5e-0000-4000-8000-000000000002'];
const viewer: Caller = {
  kind: 'USER',
  userId: me,
  orderIds: null,
  scopes: ['read:orders', 'write:orders'],
  issuedAt: new Date(),
  expiresAt: new Date(Date.now() + 60_000),
  tokenId: null,
  origins: null,
};

const call = { operation: 'thing.read', method: 'GET', path: '/thing', scope: 'read:orders' } as const;
// What the test's own service sends is of this shape.
const reader = (value: unknown) => value as Row;
const pageReader = (value: unknown) => value as Page<Row>;
const owner = ({ userId, id }: Row): Owner => ({ userId, orderId: id, teamId: 'team-1' });

async function openService(caller: Caller, answer: Answer, more: Partial<ServiceOptions> = {}) {
  const open = await openUpstream([answer]);
  const options = { rights: new Rights(caller), ...more };
  return {
    service: bindService(open.upstream, options),
    sent: open.service.calls,
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

function pageOf(...owners: readonly (string | null)[]): Page<Row> {
  const rows = owners.map((userId, index) => ({ id: `order-${index}`, userId }));
  return { rows, total: rows.length, pages: 1, nextCursor: null, from: null };
}

describe('readOne', () => {
  test.each<readonly [string, Caller, string | null, boolean]>([
    ["the caller's own", viewer, me, true],
    ["the caller's own in capitals", viewer, me.toUpperCase(), true],
    ["another user's", viewer, other, false],
    ["nobody's", viewer, null, false],
    ["anybody's for the team", { kind: 'TEAM' }, other, true],
    ['an order the token names', { ...viewer, orderIds: ['order-0'] }, me, true],
    ['an order the token does not name', { ...viewer, orderIds: ['order-1'] }, me, false],
    ['any order for a token that names none', { ...viewer, orderIds: [] }, me, false],
  ])('of %s', async (_name, caller, userId, isSeen) => {
    const row = { id: 'order-0', userId };
    await using open = await openService(caller, json(row));
    expect(await open.service.readOne({ ...call, reader, owner })).toEqual(isSeen ? row : null);
  });

  test('of what does not exist is null', async () => {
    await using open = await openService(viewer, json({ detail: 'Not found' }, 404));
    expect(await open.service.readOne({ ...call, reader, owner })).toBeNull();
  });

  test('about another user is null, and the service is not asked', async () => {
    await using open = await openService(viewer, json({ id: 'order-0', userId: other }));
    expect(await open.service.readOne({ ...call, reader, owner, about: { userId: other } })).toBeNull();
    expect(open.sent()).toEqual([]);
  });

  test('reports the team that the answer names', async () => {
    const teams: string[] = [];
    const onTeam = (teamId: string) => teams.push(teamId);
    await using open = await openService(viewer, json({ id: 'order-0', userId: me }), { onTeam });
    await open.service.readOne({ ...call, reader, owner });
    expect(teams).toEqual(['team-1']);
  });

  test.each([
    ['a fault of its reader', new TypeError('cannot read "Jane Doe"')],
    ['an error of ours', new GatewayError('UPSTREAM_UNREADABLE', 'Unreadable.')],
  ])('that ends in %s is UPSTREAM_UNREADABLE and quotes nothing', async (_name, fault) => {
    await using open = await openService(viewer, json({ name: 'Jane Doe' }));
    const failing = () => {
      throw fault;
    };
    const error: unknown = await open.service
      .readOne({ ...call, reader: failing, owner: 'anyone' })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'UPSTREAM_UNREADABLE' });
    expect(String(error instanceof Error && error.stack)).not.toContain('Jane');
    expect(error instanceof Error && error.cause).toBeUndefined();
  });
});

describe('readPage', () => {
  test("leaves a hole where a row is not the caller's, and says no total then", async () => {
    await using open = await openService(viewer, json(pageOf(me, other, me)));
    expect(await open.service.readPage({ ...call, reader: pageReader, owner })).toEqual({
      rows: [{ id: 'order-0', userId: me }, null, { id: 'order-2', userId: me }],
      total: null,
      pages: 1,
      nextCursor: null,
      from: null,
    });
  });

  test("hands on a page of the caller's own rows as it is, unreadable rows included", async () => {
    const page = { ...pageOf(me, me), rows: [{ id: 'order-0', userId: me }, null] };
    await using open = await openService(viewer, json(page));
    expect(await open.service.readPage({ ...call, reader: pageReader, owner })).toEqual(page);
  });

  test.each([
    [
      'of somebody who does not exist',
      json({ detail: 'no such user' }, 404),
      { about: { userId: me } },
      ['GET /thing'],
    ],
    ['about another user', json(pageOf(other)), { about: { userId: other } }, []],
  ])('%s is empty', async (_name, answer, about, calls) => {
    await using open = await openService(viewer, answer);
    expect(await open.service.readPage({ ...call, reader: pageReader, owner, ...about })).toEqual({
      rows: [],
      total: 0,
      pages: 0,
      nextCursor: null,
      from: null,
    });
    expect(open.sent()).toEqual(calls);
  });

  test('of a list that does not exist is a fault and no empty list', async () => {
    await using open = await openService(viewer, json({ detail: 'Not Found' }, 404));
    const page = open.service.readPage({ ...call, reader: pageReader, owner });
    await expect(page).rejects.toMatchObject({ code: 'UPSTREAM_REJECTED', status: 404 });
  });
});

describe('write', () => {
  const write = { ...call, method: 'POST', scope: 'write:orders', reader, owner } as const;

  test("about the caller's own thing is made", async () => {
    await using open = await openService(viewer, json({ id: 'order-0', userId: me }));
    const answer = await open.service.write({ ...write, about: { userId: me } });
    expect(answer).toEqual({ id: 'order-0', userId: me });
  });

  test("about another's is never sent", async () => {
    await using open = await openService(viewer, json({ id: 'order-0', userId: other }));
    expect(await open.service.write({ ...write, about: { userId: other } })).toBeNull();
    expect(open.sent()).toEqual([]);
  });

  test.each<readonly [string, Caller, Row, Owner]>([
    ["another's thing", viewer, { id: 'order-0', userId: other }, { userId: me }],
    ["nobody's thing", viewer, { id: 'order-0', userId: null }, { userId: me }],
    ['another thing', viewer, { id: 'order-0', userId: me }, { userId: me, orderId: 'order-1' }],
    ["another's thing, for a server", { kind: 'TEAM' }, { id: 'order-0', userId: other }, { userId: me }],
  ])('that is answered with %s is unreadable, and may have been done', async (_name, caller, row, about) => {
    await using open = await openService(caller, json(row));
    const fault = { code: 'UPSTREAM_UNREADABLE', mayBeDone: true };
    await expect(open.service.write({ ...write, about })).rejects.toMatchObject(fault);
  });

  test('that is done without a word is done', async () => {
    await using open = await openService(viewer, (response) => response.writeHead(204).end());
    const answer = await open.service.write({
      ...write,
      reader: () => 'done',
      owner: 'anyone',
      about: { userId: me },
    });
    expect(answer).toBe('done');
  });

  test('about what does not exist is null', async () => {
    await using open = await openService(viewer, json({}, 404));
    expect(await open.service.write({ ...write, about: { userId: me } })).toBeNull();
  });
});

describe('a missing scope', () => {
  test('is FORBIDDEN before anything is asked, whomever it is about', async () => {
    await using open = await openService({ ...viewer, scopes: ['read:profile'] }, json({}));
    const forbidden = { code: 'FORBIDDEN', message: 'This needs a token with the scope read:orders.' };
    const about = { about: { userId: other } };

    await expect(open.service.readOne({ ...call, reader, owner, ...about })).rejects.toMatchObject(forbidden);
    await expect(open.service.readPage({ ...call, reader: pageReader, owner })).rejects.toMatchObject(
      forbidden,
    );
    await expect(
      open.service.write({ ...call, method: 'POST', reader, owner, about: { userId: me } }),
    ).rejects.toMatchObject(forbidden);

    expect(open.sent()).toEqual([]);
  });

  test('is no matter for a server of the team', async () => {
    await using open = await openService({ kind: 'TEAM' }, json({ id: 'order-0', userId: other }));
    expect(await open.service.readOne({ ...call, reader, owner })).toEqual({ id: 'order-0', userId: other });
  });
});
