import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createAuthenticate, createKeyFinder } from '../../../gateway/auth/authenticate.ts';
import {
  type Access,
  type Caller,
  type Permission,
  Rights,
  scopes,
  type UserCaller,
} from '../../../gateway/auth/rights.ts';
import { createViewerTokens } from '../../../gateway/auth/viewer-tokens.ts';

const userId = '0f2c8f5e-0000-4000-8000-00000000000a';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const viewerTokens = createViewerTokens({
  secrets: ['a viewer token secret of more than 32 characters'],
  provider: null,
});
const authenticate = createAuthenticate({
  findGatewayKey: createKeyFinder(['plain-key', `sha256:${sha256('hashed-key')}`]),
  viewerTokens,
  isRevoked: () => false,
});

async function tokenFrom(origins: readonly string[] | null): Promise<string> {
  const wanted = { userId, orderIds: null, scopes: ['read:orders'], ttlSeconds: 60, origins };
  return (await viewerTokens.mint(wanted)).token;
}

describe('a gateway key', () => {
  test.each(['Bearer plain-key', 'bearer hashed-key', 'BEARER   plain-key'])(
    '"%s" is a server of the team, from any origin',
    async (authorization) => {
      expect(await authenticate({ authorization, origin: 'https://any.example.com' })).toEqual({
        kind: 'TEAM',
        keyName: `key-${sha256(authorization.split(' ').at(-1) ?? '').slice(0, 8)}`,
      });
    },
  );

  test.each([
    ['plain-key', true],
    ['hashed-key', true],
    ['plain-ke', false],
    ['plain-keyx', false],
    ['PLAIN-KEY', false],
    ['', false],
    // What leaks with a configuration file must not open the door.
    [`sha256:${sha256('hashed-key')}`, false],
    [sha256('hashed-key'), false],
    [sha256('plain-key'), false],
  ])('"%s" is one of ours: %s', (presented, isKnown) => {
    expect(createKeyFinder(['plain-key', `sha256:${sha256('hashed-key')}`])(presented) !== null).toBe(
      isKnown,
    );
  });

  test('in capitals of its hash is the same key', () => {
    expect(createKeyFinder([`sha256:${sha256('hashed-key').toUpperCase()}`])('hashed-key')).not.toBeNull();
  });

  test.each([
    ['billing=plain-key', 'billing'],
    [`Billing_2=sha256:${sha256('plain-key')}`, 'Billing_2'],
  ])('listed as "%s" goes by its label, which is no part of it', (entry, label) => {
    const find = createKeyFinder([entry, 'billing=another-key']);
    expect(find('plain-key')).toBe(`${label}-${sha256('plain-key').slice(0, 8)}`);
    expect([entry, 'billing', `${label}=plain-key`].map(find)).toEqual([null, null, null]);
  });

  test.each(['c2VjcmV0IGtleQ==', 'c2VjcmV0IGtleXM=', `${'a'.repeat(33)}=b`, '7=b'])(
    'listed as "%s" has no label: that is the key itself',
    (key) => {
      expect(createKeyFinder([key])(key)).toBe(`key-${sha256(key).slice(0, 8)}`);
    },
  );

  test('is known to nobody who has none', () => {
    expect(createKeyFinder([])('')).toBeNull();
  });
});

describe('a viewer token', () => {
  test('is one user', async () => {
    const authorization = `Bearer ${await tokenFrom(null)}`;
    const user = { kind: 'USER', userId, scopes: ['read:orders'] };
    expect(await authenticate({ authorization, origin: null })).toMatchObject(user);
    expect(await authenticate({ authorization, origin: 'https://a.example.com' })).toMatchObject(user);
  });

  test.each<readonly [string | null, boolean]>([
    ['https://a.example.com', true],
    ['https://b.example.com', true],
    [null, false],
    ['https://a.example.com.evil.example', false],
    ['http://a.example.com', false],
    ['https://A.example.com', false],
    ['null', false],
  ])('of two origins used from %s works: %s', async (origin, works) => {
    const authorization = `Bearer ${await tokenFrom(['https://a.example.com', 'https://b.example.com'])}`;
    const answer = authenticate({ authorization, origin });
    if (works) await expect(answer).resolves.toMatchObject({ userId });
    else await expect(answer).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('of no origin works from no browser', async () => {
    const authorization = `Bearer ${await tokenFrom([])}`;
    await expect(authenticate({ authorization, origin: 'https://a.example.com' })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});

test.each([
  null,
  '',
  'Bearer',
  'Bearer ',
  'plain-key',
  'Basic plain-key',
  'Bearer plain-key more',
  'Bearer nothing-we-know',
  'xBearer plain-key',
])('The authorization "%s" is nobody', async (authorization) => {
  await expect(authenticate({ authorization, origin: null })).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});

describe('rights', () => {
  const caller: UserCaller = {
    kind: 'USER',
    userId,
    orderIds: null,
    scopes: ['read:orders'],
    issuedAt: new Date(),
    expiresAt: new Date(),
    tokenId: null,
    origins: null,
  };
  const narrowed = { ...caller, orderIds: ['order-2', 'order-1'] };

  test('of a server of the team are everything', () => {
    const rights = new Rights({ kind: 'TEAM' });
    expect(rights).toMatchObject({ key: 'team', userId: null, orderIds: null });
    expect([rights.scopes, rights.owns({ userId: null })]).toEqual([scopes, true]);
  });

  test('of a user are the scopes of the token and no more', () => {
    const rights = new Rights(caller);
    expect(rights.scopes).toEqual(['read:orders']);
    expect(() => rights.require('read:orders')).not.toThrow();
    expect(() => rights.require('write:orders')).toThrow('This needs a token with the scope write:orders.');
  });

  test('of a token that is limited to orders are the scopes about orders, even when it names others', () => {
    const all = new Rights({ ...caller, scopes: [...scopes] });
    const limited = new Rights({ ...narrowed, scopes: [...scopes] });
    expect(all.scopes).toEqual(scopes);
    expect(scopes.filter((scope) => !limited.scopes.includes(scope))).toEqual([
      'read:profile',
      'read:health',
      'write:profile',
      'write:lab-reports',
    ]);
  });

  test('to new orders are those of all orders of a user, and a gateway key is needed where it is asked for', () => {
    const message = (of: Caller, permission: Permission) => {
      try {
        new Rights(of).require(permission);
        return 'allowed';
      } catch (error) {
        return String(error);
      }
    };
    const writer = { ...caller, scopes: ['write:orders'] };
    expect([
      ...[{ kind: 'TEAM' } as const, writer].map((of) => message(of, 'new-orders')),
      message({ ...writer, orderIds: ['order-1'] }, 'new-orders'),
      message(caller, 'new-orders'),
      message({ kind: 'TEAM' }, 'gateway-key'),
      message({ ...caller, scopes }, 'gateway-key'),
    ]).toEqual([
      'allowed',
      'allowed',
      'GatewayError: A token that is limited to some orders cannot place new ones.',
      'GatewayError: This needs a token with the scope write:orders.',
      'allowed',
      'GatewayError: This needs a gateway key.',
    ]);
  });

  test('report what they refuse, and what is shown, to the audit trail', () => {
    const accesses: Access[] = [];
    const rights = new Rights(caller, (access) => accesses.push(access));
    expect(() => rights.require('write:orders')).toThrow();
    rights.owns({ userId: 'other' });
    rights.owns({ userId: 'other' }, 'write order.create');
    rights.owns({ userId }, 'write order.create');
    rights.mayShow({ userId: 'other' }, 'stream order.updates');
    rights.mayShow({ userId }, 'stream order.updates');
    expect(accesses).toEqual([
      { kind: 'scope write:orders', userId, outcome: 'refused' },
      { kind: 'write order.create', userId: 'other', outcome: 'refused' },
      { kind: 'stream order.updates', userId: 'other', outcome: 'refused' },
      { kind: 'stream order.updates', userId, outcome: 'ok' },
    ]);
  });

  test.each([
    ['their own', caller, { userId }, true],
    ['their own in capitals', caller, { userId: userId.toUpperCase() }, true],
    ["another's", caller, { userId: 'other' }, false],
    ["nobody's", caller, { userId: null }, false],
    ['an order of the token', narrowed, { userId, orderId: 'ORDER-1' }, true],
    ['another order of theirs', narrowed, { userId, orderId: 'order-3' }, false],
    ["an order of the token that is another's now", narrowed, { userId: 'other', orderId: 'order-1' }, false],
    [
      'an order when the token names none',
      { ...caller, orderIds: [] },
      { userId, orderId: 'order-1' },
      false,
    ],
    ['what is no order', narrowed, { userId, orderId: null }, true],
  ])('of a user to %s', (_name, user, subject, isOwn) => {
    expect(new Rights(user).owns(subject)).toBe(isOwn);
  });

  test('have equal keys only where exactly the same may be seen', () => {
    const keyOf = (more: Partial<UserCaller>) => new Rights({ ...caller, ...more }).key;
    expect(keyOf({ orderIds: ['b', 'a'] })).toBe(keyOf({ orderIds: ['a', 'b'] }));
    const different = [
      new Rights({ kind: 'TEAM' }).key,
      ...[null, [], ['a'], ['a', 'b']].map((orderIds) => keyOf({ orderIds })),
      keyOf({ userId: 'other' }),
    ];
    expect(new Set(different).size).toBe(different.length);
  });
});
