import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  asAllowed,
  compare,
  gatewayDifferences,
  sandboxDifferences,
  webhookDifferences,
} from './differences.ts';
import { exchange } from './exchange.ts';
import { forbiddenVariants } from './forbidden.ts';
import { type GatewayVisit, visitGateway } from './gateway-visit.ts';
import { knownKeywords } from './json-schema.ts';
import { fill, routeOf, serviceRoutes } from './routes.ts';
import { requestTo, type Visit, visitSandbox } from './sandbox-visit.ts';
import { openServiceDocument, type ServiceDocument } from './service-document.ts';

const document = openServiceDocument();

if (document) holdAgainst(document);
else {
  test("the public service's document is not here: only the specification's own tables were checked", () => {
    expect(document).toBeNull();
  });
}

function holdAgainst(document: ServiceDocument): void {
  describe("the public service's document", () => {
    let visit: Visit;
    let gatewayVisit: GatewayVisit;
    beforeAll(async () => {
      visit = await visitSandbox();
      gatewayVisit = await visitGateway();
    }, 120_000);
    afterAll(() => visit[Symbol.asyncDispose]());

    test('uses only what the check understands', () => {
      expect([...document.keywords].filter((keyword) => !knownKeywords.has(keyword))).toEqual([]);
    });

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
      expect(compare(shown.flatMap(document.findEventFaults), webhookDifferences)).toEqual(asAllowed);
    });

    test('allows every request that the gateway sends', async () => {
      const { exchanges } = gatewayVisit;
      expect(compare(exchanges.flatMap(document.findRequestFaults), gatewayDifferences)).toEqual(asAllowed);
    });

    test('allows every answer that the gateway is given', async () => {
      const { exchanges } = gatewayVisit;
      expect(compare(exchanges.flatMap(document.findResponseFaults), sandboxDifferences)).toEqual(asAllowed);
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
        answers.add(
          isRefused ? 'refused' : `${routeOf(sandbox.routes, asked)} ${change}: ${answered.status}`,
        );
      }
      expect([...answers]).toEqual(['refused']);
    });
  });
}
