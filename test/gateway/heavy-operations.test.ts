import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ways, waysWith } from '../support/ask.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { subscribeOverWebSocket } from '../support/subscribe.ts';
import { onDirectPath, send } from '../support/whole-answers.ts';

const memory = { ...onDirectPath, EVENT_LOG: 'memory:', READ_CACHE_SECONDS: '300' };
const points = 300;
const cheap = '{ viewer { kind } }';

const orders = (first: number, selection: string) => `orders(first: ${first}) { nodes { ${selection} } }`;

function eventsTimes(times: number): string {
  const fields = 'id createdAt statusDetail status { raw label stage isTerminal needsAttention method step }';
  return Array.from({ length: times }, (_, index) => `e${index}: events { ${fields} }`).join(' ');
}

/** Many fields of little that is read: each order's events so many times, for each order of each order. */
const wide = (times: number) => `{ ${orders(10, `user { ${orders(10, eventsTimes(times))} }`)} }`;
/** Weighs less than 500,000 before it runs, because lists without `first` count once. */
const excessive = `{ ${orders(6, `user { ${orders(6, `user { ${orders(6, eventsTimes(40))} }`)} }`)} }`;

/** The user with the most orders. */
function findBusiest(lab: Lab): string {
  const counts = Map.groupBy(lab.sandbox.orders(), ({ userId }) => userId);
  const [busiest] = [...counts].toSorted(([, one], [, other]) => other.length - one.length);
  return busiest?.[0] ?? '';
}

/** What an answer weighs, counted from outside: its fields, the rows of its lists, and long texts more than once. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return Math.floor(value.length / 64);
  if (typeof value !== 'object' || value === null) return 0;
  const parts: readonly unknown[] = Object.values(value);
  return parts.reduce((sum: number, part) => sum + 1 + weigh(part), 0);
}

interface WithEvents {
  readonly events: readonly unknown[];
}

function byEvents(one: WithEvents, other: WithEvents): number {
  return other.events.length - one.events.length;
}

/** How many points a caller has left, found by using them up. */
async function usePoints(lab: Lab, token: string): Promise<number> {
  for (let left = 0; ; left += 1) if ((await lab.query(cheap, { token })).errors) return left;
}

describe('points', () => {
  test.each(ways.map(([name], index) => [name, index] as const))(
    'are a request, the calls and one for each 1,000 fields, over %s',
    async (_name, way) => {
      await using lab = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: String(points) } });
      const token = await lab.tokenFor(findBusiest(lab));
      const ask = waysWith(() => token)[way]?.[1];
      const before = lab.sandbox.calls.length;

      const { data, errors } = (await ask?.(lab, wide(5))) ?? {};

      expect(errors).toBeUndefined();
      const weight = weigh(data);
      expect(weight).toBeGreaterThan(20_000);
      const calls = lab.sandbox.calls.length - before;
      expect(await usePoints(lab, token)).toBe(points - 1 - calls - Math.floor(weight / 1000));
    },
  );

  test('are also those of what each item of a subscription shows', async () => {
    await using lab = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: String(points) } });
    const userId = findBusiest(lab);
    const token = await lab.tokenFor(userId);
    const id = lab.sandbox.orders().find((order) => order.userId === userId)?.orderId;
    const query = `subscription ($id: ID!) { orderUpdates(orderId: $id) { order { user ${wide(5)} } } }`;
    const before = lab.sandbox.calls.length;
    const stream = await subscribeOverWebSocket({ url: lab.url, token, query, variables: { id } });
    const { data, errors } = (await stream.next()) ?? {};
    expect(errors).toBeUndefined();
    const calls = lab.sandbox.calls.length - before;
    expect(await usePoints(lab, token)).toBe(points - 1 - calls - Math.floor(weigh(data) / 1000));
    await stream.close();
  });

  test('are one for each 64 KiB of an answer that is given again', async () => {
    await using lab = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: String(points) } });
    const { data } = await lab.query(`{ ${orders(100, 'id user { id } events { id }')} }`);
    const longest = data.orders.nodes.toSorted(byEvents)[0];
    const token = await lab.tokenFor(longest.user.id);
    const query = `{ order(id: "${longest.id}") { ${eventsTimes(50)} } }`;
    const calls = lab.sandbox.calls.length;
    const first = await send(lab, query, { token });
    const own = Math.floor(weigh(JSON.parse(first.text).data) / 1000) + lab.sandbox.calls.length - calls;

    const again = await send(lab, query, { token });

    expect(again.text).toBe(first.text);
    expect(again.text.length).toBeGreaterThan(65_536);
    expect(await usePoints(lab, token)).toBe(points - 2 - own - Math.floor(again.text.length / 65_536));
  });
});

describe('what one answer may be', () => {
  let lab: Lab;
  let token: string;

  beforeAll(async () => {
    lab = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: '0' } });
    token = await lab.tokenFor(findBusiest(lab));
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test.each(waysWith(() => token))('is 50,000 fields of a viewer, over %s', async (_name, ask) => {
    const answer = await ask(lab, excessive);
    expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COSTLY']);
    expect(answer.data ?? null).toBeNull();
    expect((await ask(lab, wide(10))).errors).toHaveLength(1);
    expect((await ask(lab, wide(5))).errors).toBeUndefined();
    // A server of the team speaks for many users.
    expect((await lab.query(wide(10))).errors).toBeUndefined();
  });

  test('of a mutation, says that it may be done all the same', async () => {
    const userId = findBusiest(lab);
    const mutation = `mutation { updateUser(input: { id: "${userId}", fallbackTimeZone: "Europe/Rome" }) { ... on UserUpdated { user ${excessive} } } }`;
    const answer = await lab.query(mutation, { token: gatewayKey });
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COSTLY', mayHaveBeenDone: true } },
    ]);
  });

  test('holds for what is asked of the schema as well, which is measured by nothing else', async () => {
    const times = (count: number, field: string) =>
      Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
    const excess = `{ __schema { types { ${times(45, 'fields { ...Types }')} } } }
      fragment Types on __Field { type { ...Names ofType { ...Names ofType { ...Names ofType { ...Names } } } } }
      fragment Names on __Type { fields { name description } }`;
    const { errors } = await lab.query(excess, { token: gatewayKey });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COSTLY']);
    expect((await lab.query(getIntrospectionQuery(), { token: gatewayKey })).errors).toBeUndefined();
  });

  test('may hold `__typename` under a few other names only: nothing counts it', async () => {
    const named = (count: number) =>
      `{ viewer { ${Array.from({ length: count }, (_, index) => `t${index}: __typename`).join(' ')} } }`;
    expect((await lab.query(named(5))).errors).toBeUndefined();
    expect((await lab.query(named(6))).errors?.[0].extensions.code).toBe('QUERY_TOO_COSTLY');
  });
});
