import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayKey, startLab } from '../support/lab.ts';
import { pageOrigin } from '../support/launch.ts';
import { compareForm, sendRaw } from '../support/raw-http.ts';
import { mint, startTwoLanes, type TwoLanes } from './lanes/two-lanes.ts';
import { arbitraryRequest } from './raw-requests/arbitrary-request.ts';

/** The same bytes to a gateway with FAST_LANE=on and to one with FAST_LANE=off: the same bytes come back. */
let lanes: TwoLanes;

beforeAll(async () => {
  lanes = await startTwoLanes();
});

afterAll(async () => {
  await lanes[Symbol.asyncDispose]();
});

/** Another seed makes other requests: RAW_REQUESTS_SEED=7 npx vitest run raw-requests. */
const seed = Number(process.env.RAW_REQUESTS_SEED ?? 20261303);
const atOnce = 8;

interface Difference {
  readonly number: number;
  readonly sent: string;
  readonly told: string;
  readonly expected: string;
}

interface Compared {
  readonly differences: readonly Difference[];
  /** How many answers began with each status. */
  readonly statuses: ReadonlyMap<string, number>;
}

/** Sends each request to both, a few at a time; gives up after some differences. */
async function compare(requests: readonly Buffer[], urls: readonly [string, string]): Promise<Compared> {
  const differences: Difference[] = [];
  const statuses = new Map<string, number>();
  const left = requests.entries();
  const work = async () => {
    for (const [number, request] of left) {
      if (differences.length >= 5) return;
      const [told = '', expected = ''] = await Promise.all(
        urls.map(async (url) => compareForm(await sendRaw(url, request))),
      );
      const status = expected.slice(9, 12);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (told !== expected) differences.push({ number, sent: request.toString('latin1'), told, expected });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { differences, statuses };
}

async function generate(count: number): Promise<readonly Buffer[]> {
  const [order] = lanes.lab.sandbox.orders();
  const about = {
    host: new URL(lanes.fast.url).host,
    gatewayKey,
    viewerToken: await mint(lanes, { userId: order?.userId }),
    origin: pageOrigin,
    orderId: order?.orderId ?? '',
  };
  return fc.sample(arbitraryRequest(about), { seed, numRuns: count });
}

test('10,000 raw requests are answered with the same bytes either way', async () => {
  const requests = await generate(10_000);
  const { differences, statuses } = await compare(requests, [lanes.fast.url, lanes.usual.url]);
  expect(differences).toEqual([]);
  // Enough of them are requests that are answered, and others refused for every reason there is.
  expect(statuses.get('200')).toBeGreaterThan(3000);
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining(['204', '400', '401', '404', '405', '406', '415']),
  );
}, 300_000);

test('a gateway that answers one kind of request differently fails the comparison', async () => {
  await using other = await startLab({
    env: { EVENT_LOG: 'memory:', RATE_LIMIT_POINTS: '0', SERVICE_URL: lanes.lab.serviceUrl },
  });
  const { differences } = await compare(await generate(1000), [other.url, lanes.usual.url]);
  // It knows no origin, and is the same in everything else.
  expect(differences.length).toBeGreaterThan(0);
  for (const { sent } of differences) expect(sent).toMatch(/^origin:/im);
}, 300_000);
