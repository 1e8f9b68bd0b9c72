import { isInputObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../gateway/domain/schema.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { namesOf, rowsOf, sections, shownIn } from '../support/coverage-tables.ts';
import { serviceKey, webhookSecret } from '../support/lab.ts';
import {
  asAllowed,
  compare,
  gatewayDifferences,
  sandboxDifferences,
  tableDifferences,
} from './differences.ts';
import { type GatewayVisit, visitGateway } from './gateway-visit.ts';
import { routeOf, serviceRoutes } from './routes.ts';
import { openServiceDocument, type ServiceDocument } from './service-document.ts';
import { findAnswerFaults, requests } from './specification.ts';

/** Operations that the gateway has no need of; second ways to another one. */
const unasked = [
  'GET /v2/user',
  'GET /v3/lab_tests/:lab_test_id/markers',
  'GET /v3/orders',
  'POST /v3/order/create',
];

const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
);

let visit: GatewayVisit;
beforeAll(async () => {
  visit = await visitGateway();
});

test('every query and mutation was asked, and none failed', async () => {
  expect(visit.errors).toEqual([]);
  expect([...visit.fields].toSorted()).toEqual(fields.toSorted());
  expect(fields.filter((field) => !visit.succeeded.has(field))).toEqual([]);
});

test('every argument and every field of every input was given', () => {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const args = roots.flatMap((type) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) =>
      field.args.map(({ name }) => `${type?.name}.${field.name}.${name}`),
    ),
  );
  const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
  const given = inputs.flatMap((type) =>
    Object.keys(type.getFields()).map((field) => `${type.name}.${field}`),
  );
  expect([...args, ...given].filter((name) => !visit.inputs.has(name))).toEqual([]);
});

test('the gateway asks every operation of the service, and none that there is not', async () => {
  await using sandbox = closing(createSandbox({ apiKey: serviceKey, webhookSecret }));
  const routes = serviceRoutes(sandbox.value);
  const asked = visit.exchanges.map((each) => routeOf(routes, each));
  expect(asked).not.toContain(undefined);
  expect(routes.filter((route) => !asked.includes(route)).toSorted()).toEqual(unasked);
});

test('each request carries the key and says what its body is', async () => {
  for (const { method, path, headers, sent } of visit.exchanges) {
    expect([method, path, headers.get('x-service-api-key')]).toEqual([method, path, serviceKey]);
    const type = sent === null ? null : headers.get('content-type')?.split(';')[0];
    const expected = sent instanceof FormData ? 'multipart/form-data' : 'application/json';
    expect([method, path, type]).toEqual([method, path, sent === null ? null : expected]);
  }
});

test('its bodies have every field that the specification requires', async () => {
  for (const [route, required] of Object.entries(requests)) {
    const sent = visit.exchanges.filter((each) => routeOf([route], each) === route).map((each) => each.sent);
    expect(sent).not.toEqual([]);
    for (const body of sent)
      expect(Object.keys(body as object)).toEqual(expect.arrayContaining([...required]));
  }
});

test('what it is answered has every field of the specification', async () => {
  const { exchanges } = visit;
  const { notAllowed } = compare(exchanges.flatMap(findAnswerFaults), tableDifferences);
  expect(notAllowed).toEqual(asAllowed.notAllowed);
});

const document = openServiceDocument();
if (document) describe("the public service's document", () => holdAgainst(document));

function holdAgainst(document: ServiceDocument): void {
  test('allows every request that the gateway sends', async () => {
    const { exchanges } = visit;
    expect(
      compare(
        exchanges.flatMap((each) => document.findRequestFaults(each)),
        gatewayDifferences,
      ),
    ).toEqual(asAllowed);
  });

  test('has no query parameter that the coverage document shows and the gateway never sends', () => {
    const shown = rowsOf(sections.parameters).flatMap((row) =>
      shownIn(row).map((parameter) => `${namesOf(row[0])[0]} ${parameter}`),
    );
    const sent = visit.exchanges.flatMap((each) =>
      [...each.query.keys()].map((key) => `${document.operationOf(each)} ${key}`),
    );
    const ofTeams = shown.filter((each) => !each.includes(' /v1/org/'));
    expect(ofTeams.length).toBeGreaterThan(50);
    expect(ofTeams.filter((each) => !sent.includes(each))).toEqual([]);
  });

  test('allows every answer that the gateway is given', async () => {
    const { exchanges } = visit;
    expect(
      compare(
        exchanges.flatMap((each) => document.findResponseFaults(each)),
        sandboxDifferences,
      ),
    ).toEqual(asAllowed);
  });
}

function closing<Value extends { readonly close: () => Promise<void> }>(value: Value) {
  return { value, [Symbol.asyncDispose]: () => value.close() };
}
