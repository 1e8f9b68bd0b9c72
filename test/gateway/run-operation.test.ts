import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { createRateLimits } from '../../gateway/auth/rate-limits.ts';
import { Rights } from '../../gateway/auth/rights.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { DocumentCache } from '../../gateway/execution/document/prepared-document.ts';
import { createTrustedDocuments } from '../../gateway/execution/document/trusted-documents.ts';
import { guardOperation, type OperationContext } from '../../gateway/execution/run-operation.ts';
import { createMetrics } from '../../gateway/metrics.ts';
import { Dependencies } from '../../gateway/service/trace.ts';

test('a refusal for the points of one key is for this key only: others with equal rights who wait for the answer run the operation', async () => {
  const caller = { kind: 'TEAM', keyName: 'spent' } as const;
  const rateLimits = createRateLimits({
    ...{ pointsPerMinute: 1, connections: 1, operationsPerSocket: 1, runShared: null },
  });
  await rateLimits.pay(caller, 0);
  const trustedDocuments = createTrustedDocuments({
    mode: 'off',
    files: [],
    whereBuilt: [],
    onUntrusted: () => {},
  });
  const documents = new DocumentCache({ schema, trustedDocuments, isOpen: true });
  const document = documents.prepare(
    '{ users(first: 20) { nodes { orders(first: 1) { nodes { id } } } } }',
    caller,
  );
  // Only what is looked at.
  const contextValue = {
    service: { rights: new Rights(caller) },
    upstreamTotals: () => ({ calls: 0 }),
    work: { weight: 0 },
  } as unknown as OperationContext;
  const mask = (error: unknown) =>
    new GraphQLError('refused', { extensions: { code: error instanceof GatewayError ? error.code : null } });
  let isPrivate = false;
  const dependencies = new Dependencies(() => {
    isPrivate = true;
  });
  const guarded = await guardOperation(
    { trustedDocuments, rateLimits, metrics: createMetrics(), mask },
    { schema, document, contextValue },
    dependencies,
  );
  expect(guarded).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
  expect(isPrivate).toBe(true);
});
