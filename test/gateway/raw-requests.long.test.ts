import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { startTwoGateways, type TwoGateways } from './direct-path/two-gateways.ts';
import { compare, generate } from './raw-requests/compare.ts';

let gateways: TwoGateways;

beforeAll(async () => {
  gateways = await startTwoGateways();
});

afterAll(async () => {
  await gateways[Symbol.asyncDispose]();
});

test('10,000 raw requests are answered with the same bytes either way', async () => {
  const requests = await generate(gateways, 10_000);
  const { differences, statuses } = await compare(requests, [gateways.direct.url, gateways.usual.url]);
  expect(differences).toEqual([]);
  expect(statuses.get('200')).toBeGreaterThan(3000);
}, 300_000);

test('a gateway that answers one kind of request differently fails the comparison', async () => {
  await using other = await startLab({
    env: { EVENT_LOG: 'memory:', RATE_LIMIT_POINTS: '0', SERVICE_URL: gateways.lab.serviceUrl },
  });
  const { differences } = await compare(await generate(gateways, 1000), [other.url, gateways.usual.url]);
  // It knows no origin, and is the same in everything else.
  expect(differences.length).toBeGreaterThan(0);
  for (const { sent } of differences) expect(sent).toMatch(/^origin:/im);
}, 300_000);
