import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { SharedCache } from '../../gateway/cache/shared-cache.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { DocumentCache } from '../../gateway/execution/document/prepared-document.ts';
import { createTrustedDocuments } from '../../gateway/execution/document/trusted-documents.ts';
import { createDirectAnswer, type DirectRequest } from '../../gateway/http/direct-path.ts';
import { shareWholeAnswers } from '../../gateway/http/whole-answers.ts';
import type { CreateContext } from '../../gateway/http/yoga.ts';
import { createMetrics } from '../../gateway/metrics.ts';

const trustedDocuments = createTrustedDocuments({
  ...{ mode: 'off', files: [], whereBuilt: [], onUntrusted: () => {} },
} as const);
const documents = new DocumentCache({ schema, trustedDocuments, isOpen: true });
const body = Buffer.from(JSON.stringify({ query: '{ users { nodes { id } } }' }));
const head = { authorization: null, origin: null, trace: null, acceptEncoding: null } as const;

function requestOf(keyName: string): DirectRequest {
  return {
    ...{ head: { ...head, mediaType: 'application/json' }, caller: { kind: 'TEAM', keyName }, body },
    startedAt: 0,
    left: new AbortController().signal,
  };
}

/** Asks the same with two keys at once; the operation of the first ends with an error of this code. */
async function askWithTwoKeys(code: string): Promise<readonly unknown[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  const answerDirectly = createDirectAnswer({
    ...{ schema, documents, mask: (error) => new GraphQLError(String(error)) },
    // Nothing of the context is looked at.
    createContext: (() => ({})) as unknown as CreateContext,
    runOperation: async () => {
      runs += 1;
      if (runs > 1) return { data: { users: null } };
      await promise;
      return { errors: [new GraphQLError('refused', { extensions: { code } })] };
    },
  });
  const give = shareWholeAnswers(
    {
      ...{ cache: new SharedCache({ ttlMs: 0 }), catchUp: () => true, metrics: createMetrics() },
      ...{ documents, waitForConnection: () => null, charge: () => {} },
    },
    answerDirectly,
  );
  const asked = ['one', 'other'].map((name) => give(requestOf(name)));
  resolve();
  const answers = await Promise.all(asked);
  return answers.map((answer) => JSON.parse(String(answer?.body)).errors?.[0].extensions.code ?? 'answered');
}

test('a limit that one key has reached refuses no other key that waits for the same answer', async () => {
  expect(await askWithTwoKeys('RATE_LIMITED')).toEqual(['RATE_LIMITED', 'answered']);
});

test('an error that would be the same for both is given to both', async () => {
  expect(await askWithTwoKeys('UPSTREAM_UNAVAILABLE')).toEqual([
    'UPSTREAM_UNAVAILABLE',
    'UPSTREAM_UNAVAILABLE',
  ]);
});
