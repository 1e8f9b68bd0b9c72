import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../gateway/auth/rights.ts';
import { createDocumentTickets, createLaunchTickets } from '../../../gateway/auth/tickets.ts';
import { openMemoryStore } from '../../support/memory-store.ts';

const team: Caller = { kind: 'TEAM' };
const userUntil = (expiresAt: Date): Caller => ({
  kind: 'USER',
  userId: 'u',
  orderIds: ['o'],
  scopes: ['launch:portal'],
  issuedAt: new Date(0),
  expiresAt,
  origins: null,
  tokenId: null,
  keyId: 'k',
});
const isRevoked = () => false;
const { oneTimeValues: values } = await openMemoryStore();
const document = { caller: team, orderId: 'o', userId: 'u', kind: 'RESULT' } as const;
const launch = { caller: team, orderId: null, userId: 'u', origin: 'https://page.example' } as const;

const kinds = [
  {
    name: 'document',
    lifeMs: 60_000,
    grant: document,
    open: () => {
      const tickets = createDocumentTickets(values, isRevoked);
      return { ...tickets, issueTo: (caller: Caller) => tickets.issue({ ...document, caller }) };
    },
  },
  {
    name: 'launch',
    lifeMs: 30_000,
    grant: launch,
    open: () => {
      const tickets = createLaunchTickets(values, isRevoked);
      return { ...tickets, issueTo: (caller: Caller) => tickets.issue({ ...launch, caller }) };
    },
  },
];

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(kinds)('a $name ticket', ({ lifeMs, grant, open }) => {
  test('ends by itself, to the millisecond', async () => {
    const tickets = open();
    const [early, late] = [await tickets.issueTo(team), await tickets.issueTo(team)];
    expect(early.expiresAt).toEqual(new Date(lifeMs));
    vi.setSystemTime(lifeMs - 1);
    expect(await tickets.redeem(early.ticket)).toEqual(grant);
    vi.setSystemTime(lifeMs);
    expect(await tickets.redeem(late.ticket)).toBeNull();
  });

  test('ends with the viewer token behind it when that is sooner', async () => {
    const tickets = open();
    const { ticket, expiresAt } = await tickets.issueTo(userUntil(new Date(5000)));
    expect(expiresAt).toEqual(new Date(5000));
    vi.setSystemTime(5000);
    expect(await tickets.redeem(ticket)).toBeNull();
  });

  test('gives back the caller with all that narrows it', async () => {
    const tickets = open();
    const caller = userUntil(new Date(90_000));
    const { ticket } = await tickets.issueTo(caller);
    expect(await tickets.redeem(ticket)).toEqual({ ...grant, caller });
  });
});

test('a ticket of one kind is none of the other, and is not spent by the mistake', async () => {
  const [documents, launches] = [
    createDocumentTickets(values, isRevoked),
    createLaunchTickets(values, isRevoked),
  ];
  const { ticket } = await documents.issue(document);
  expect(await launches.redeem(ticket)).toBeNull();
  expect(await documents.redeem(ticket)).toEqual(document);
});

test('the stored value opens nothing: a ticket is stored under its hash only', async () => {
  const keys: string[] = [];
  const tickets = createLaunchTickets(
    {
      take: (key) => values.take(key),
      put: (key, value, until) => {
        keys.push(`${key} ${JSON.stringify(value)}`);
        return values.put(key, value, until);
      },
    },
    isRevoked,
  );
  const { ticket } = await tickets.issue(launch);
  expect(ticket).toMatch(/^[\w-]{43}$/);
  expect(keys).toHaveLength(1);
  expect(keys[0]).not.toContain(ticket);
});

test('whose token was revoked meanwhile is none any more', async () => {
  const revoked = () => true;
  const [documents, launches] = [
    createDocumentTickets(values, revoked),
    createLaunchTickets(values, revoked),
  ];
  const caller = userUntil(new Date(Date.now() + 60_000));
  const issued = [
    await documents.issue({ ...document, caller }),
    await launches.issue({ ...launch, caller }),
  ] as const;
  expect(await documents.redeem(issued[0].ticket)).toBeNull();
  expect(await launches.redeem(issued[1].ticket)).toBeNull();
  // A server of the team has no token to revoke.
  expect(await documents.redeem((await documents.issue(document)).ticket)).toEqual(document);
});
