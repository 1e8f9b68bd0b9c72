import { expect, test } from 'vitest';
import { startTwoGateways } from './direct-path/two-gateways.ts';
import { compare, generate } from './raw-requests/compare.ts';

const count = 600;

// The same bytes go to a gateway with DIRECT_PATH=on and to one with DIRECT_PATH=off.
// raw-requests.long.test.ts sends these and 9,400 more.
test(`${count} raw requests are answered with the same bytes either way`, async () => {
  await using gateways = await startTwoGateways();
  const requests = await generate(gateways, count);
  const { differences, statuses } = await compare(requests, [gateways.direct.url, gateways.usual.url]);
  expect(differences).toEqual([]);
  // Enough of them are requests that are answered, and others refused for every reason there is.
  expect(statuses.get('200')).toBeGreaterThan(count * 0.3);
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining(['204', '400', '401', '404', '405', '406', '415']),
  );
});
