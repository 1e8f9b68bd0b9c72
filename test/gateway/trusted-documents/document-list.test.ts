import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocumentList } from '../../../gateway/execution/document/document-list.ts';
import { graphqlRequest, type Lab, startLab } from '../../support/lab.ts';

/** Each file is as its tool wrote it. */
const lists = [
  ['GraphQL Code Generator', 'codegen', '2.0.0'],
  ['Relay’s compiler (MD5)', 'relay', '21'],
  ['Apollo’s manifest', 'apollo', '4'],
] as const;
const pathOf = (client: string, version: string) =>
  fileURLToPath(new URL(`${client}@${version}.json`, import.meta.url));
const files = lists.map(([, client, version]) => pathOf(client, version));

let lab: Lab;
let token = '';
beforeAll(async () => {
  const env = { PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files.join(', ') };
  lab = await startLab({ env: { EVENT_LOG: 'memory:', ...env } });
  token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
});
afterAll(() => lab[Symbol.asyncDispose]());

describe.each(lists)('the list of %s', (_tool, client, version) => {
  const list = readDocumentList(pathOf(client, version));

  test('has its client and version from the name of its file', () => {
    expect(list).toMatchObject({ client, version });
  });

  test.each(list.documents)('lets a viewer send its documents by id and by text', async ({ id, text }) => {
    const answers = [
      { query: text },
      { documentId: id },
      { documentId: `sha256:${id}` },
      { extensions: { persistedQuery: { version: 1, sha256Hash: id } } },
    ].map(async (sent) => (await lab.gateway.fetch(graphqlRequest(lab.url, sent, token))).json());

    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ data: { viewer: { kind: 'USER' } } });
    }
  });
});
