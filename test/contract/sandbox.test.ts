import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  asAllowed,
  compare,
  gatewayDifferences,
  sandboxDifferences,
  tableDifferences,
  webhookDifferences,
} from './differences.ts';
import { exchange } from './exchange.ts';
import { fill, routeOf, serviceRoutes } from './routes.ts';
import { requestTo, type Visit, visitSandbox } from './sandbox-visit.ts';
import {
  findAnswerFaults,
  findEventFaults,
  requests,
  tableOf,
  tableOfEvent,
  usedTables,
} from './specification.ts';

let visit: Visit;
beforeAll(async () => {
  visit = await visitSandbox();
}, 60_000);
afterAll(() => visit[Symbol.asyncDispose]());

test('every operation of the sandbox has succeeded at least once', async () => {
  const routes = serviceRoutes(visit.sandbox);
  const succeeded = visit.exchanges.filter(({ status }) => status < 300).map((each) => routeOf(routes, each));
  expect(routes.filter((route) => !succeeded.includes(route))).toEqual([]);
});

test('its answers and webhooks have every field of the specification, with its type', async () => {
  const faults = [
    ...visit.exchanges.flatMap(findAnswerFaults),
    ...visit.webhooks.flatMap(({ body }) => findEventFaults(body)),
  ];
  expect(compare(faults, tableDifferences)).toEqual(asAllowed);
});

test('every table of the specification was held against an answer or an event', async () => {
  const met = [
    ...visit.exchanges.map(tableOf),
    ...visit.webhooks.map(({ body }) => tableOfEvent(body.event_type)),
  ];
  expect(usedTables.filter((table) => !met.includes(table))).toEqual([]);
});

test('every operation refuses a request without the key, with JSON', async () => {
  for (const route of serviceRoutes(visit.sandbox)) {
    const [method, path] = fill(route, '00000000-0000-4000-8000-000000000000');
    const answer = await visit.sandbox.fetch(new Request(`http://sandbox.test${path}`, { method }));
    expect([route, answer.status, await answer.json()]).toEqual([route, 401, { detail: 'invalid token' }]);
  }
});

test('every operation on an id refuses one that is none, as a validation error', async () => {
  const { sandbox } = visit;
  // A client's own reference may be any text.
  const open = serviceRoutes(sandbox).filter(
    (route) => route.includes(':') && !route.includes(':client_user_id'),
  );
  for (const route of open) {
    const [answered] = await exchange(sandbox, requestTo(...fill(route, 'none')));
    expect([route, answered.status]).toEqual([route, 422]);
    expect(findAnswerFaults(answered)).toEqual([]);
  }
});

test.each(Object.entries(requests))(
  '%s is refused without a field that the specification requires',
  async (route, fields) => {
    const { sandbox, exchanges } = visit;
    const good = exchanges.find((each) => each.status === 200 && routeOf(sandbox.routes, each) === route);
    for (const field of fields) {
      const { [field]: _, ...rest } = Object(good?.sent);
      const [answered] = await exchange(sandbox, requestTo(good?.method ?? '', good?.path ?? '', rest));
      expect(answered).toMatchObject({
        status: 422,
        received: { detail: [{ type: 'missing', loc: ['body', field] }] },
      });
    }
  },
);

test('every allowed difference names a row of docs/service.md', () => {
  const text = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
  const rows = [...sandboxDifferences, ...gatewayDifferences, ...tableDifferences, ...webhookDifferences].map(
    ({ row }) => row,
  );
  expect(rows.filter((row) => !text.includes(`\n| ${row} |`))).toEqual([]);
});
