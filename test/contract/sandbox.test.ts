import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  asAllowed,
  compare,
  gatewayDifferences,
  sandboxDifferences,
  tableDifferences,
  webhookDifferences,
} from './differences.ts';
import { exchange } from './exchange.ts';
import { forbiddenVariants } from './forbidden.ts';
import { fill, routeOf, serviceRoutes } from './routes.ts';
import { requestTo, type Visit, visitSandbox } from './sandbox-visit.ts';
import { openServiceDocument, type ServiceDocument } from './service-document.ts';
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
});
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

const document = openServiceDocument();
if (document) describe("the public service's document", () => holdAgainst(document));
else {
  test("the public service's document is not here: only the specification's own tables were checked", () => {
    expect(document).toBeNull();
  });
}

function holdAgainst(document: ServiceDocument): void {
  test('has every operation of the sandbox', async () => {
    const unknown = serviceRoutes(visit.sandbox).filter((route) => {
      const [method, path] = fill(route, 'any');
      return document.operationOf({ method, path }) === undefined;
    });
    expect(unknown).toEqual([]);
  });

  test('allows every request that the sandbox took, and its answers', async () => {
    const faults = visit.exchanges.flatMap((each) => [
      ...(each.status < 300 ? document.findRequestFaults(each) : []),
      ...document.findResponseFaults(each),
    ]);
    expect(compare(faults, sandboxDifferences)).toEqual(asAllowed);
  });

  test('allows every webhook that it shows', () => {
    const shown = visit.webhooks
      .map(({ body }) => body)
      .filter(({ event_type }) => document.hasEvent(event_type));
    expect(new Set(shown.map(({ event_type }) => event_type)).size).toBe(12);
    expect(
      compare(
        shown.flatMap((event) => document.findEventFaults(event)),
        webhookDifferences,
      ),
    ).toEqual(asAllowed);
  });

  test('forbids requests with a field gone or wrong, and the sandbox refuses every one of them', async () => {
    const { sandbox } = visit;
    const variants = forbiddenVariants(visit.exchanges, document);
    const answers = new Set<string>();
    for (const { asked, change } of variants) {
      const { method, path, query, sent } = asked;
      const search = query.size > 0 ? `?${query}` : '';
      const [answered] = await exchange(sandbox, requestTo(method, path + search, sent ?? undefined));
      const isRefused = answered.status === 422 && document.findResponseFaults(answered).length === 0;
      answers.add(isRefused ? 'refused' : `${routeOf(sandbox.routes, asked)} ${change}: ${answered.status}`);
    }
    expect([...answers]).toEqual(['refused']);
  });
}

test('every allowed difference names a row of docs/service.md', () => {
  const text = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
  const rows = [...sandboxDifferences, ...gatewayDifferences, ...tableDifferences, ...webhookDifferences].map(
    ({ row }) => row,
  );
  expect(rows.filter((row) => !text.includes(`\n| ${row} |`))).toEqual([]);
});
