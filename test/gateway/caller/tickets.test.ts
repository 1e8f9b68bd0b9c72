import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../gateway/caller/caller.ts';
import { createDocumentTickets, createLaunchTickets } from '../../../gateway/caller/tickets.ts';
import { createMemoryDeposits } from '../../../gateway/events/memory/deposits.ts';

const team: Caller = { kind: 'TEAM' };
const userUntil = (expiresAt: Date): Caller => ({
  kind: 'USER',
  userId: 'u',
  orderIds: ['o'],
  scopes: ['launch:portal'],
  expiresAt,
  origins: null,
});
const document = { caller: team, orderId: 'o', userId: 'u', kind: 'RESULT' } as const;
const launch = { caller: team, orderId: null, userId: 'u', origin: 'https://page.example' } as const;

const kinds = [
  {
    name: 'document',
    lifeMs: 60_000,
    grant: document,
    open: () => {
      const tickets = createDocumentTickets(createMemoryDeposits());
      return { ...tickets, issueTo: (caller: Caller) => tickets.issue({ ...document, caller }) };
    },
  },
  {
    name: 'launch',
    lifeMs: 30_000,
    grant: launch,
    open: () => {
      const tickets = createLaunchTickets(createMemoryDeposits());
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
  const deposits = createMemoryDeposits();
  const [documents, launches] = [createDocumentTickets(deposits), createLaunchTickets(deposits)];
  const { ticket } = await documents.issue(document);
  expect(await launches.redeem(ticket)).toBeNull();
  expect(await documents.redeem(ticket)).toEqual(document);
});

test('what is kept opens nothing: a ticket is kept under its hash only', async () => {
  const keys: string[] = [];
  const deposits = createMemoryDeposits();
  const tickets = createLaunchTickets({
    ...deposits,
    keep: (key, value, until) => {
      keys.push(`${key} ${JSON.stringify(value)}`);
      return deposits.keep(key, value, until);
    },
  });
  const { ticket } = await tickets.issue(launch);
  expect(ticket).toMatch(/^[\w-]{43}$/);
  expect(keys).toHaveLength(1);
  expect(keys[0]).not.toContain(ticket);
});
