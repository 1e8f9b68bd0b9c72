import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTrustedDocuments } from '../../../gateway/execution/document/trusted-documents.ts';
import { describeOperations } from '../../../widget/build/operations.ts';
import { READ_ORDER } from '../../../widget/src/gateway/operations.ts';
import { type Ask, ways, waysWith } from '../../support/ask.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Lab, startLab } from '../../support/lab.ts';

const folder = makeFolder();
const own = '{ viewer { kind } }';
const unlisted = '{ viewer { kind scopes } }';
const hashOf = (document: string) => createHash('sha256').update(document).digest('hex');

function writeList(name: string, list: unknown): string {
  const path = folder.file(name);
  writeFileSync(path, JSON.stringify(list));
  return path;
}

const file = writeList('operations.json', {
  ...JSON.parse(describeOperations()),
  [hashOf(own)]: own,
});

let token = '';
const viewerWays = waysWith(() => token);
const codeOf = async (lab: Lab, ask: Ask, query: string) =>
  (await ask(lab, query)).errors?.[0].extensions.code ?? 'ok';

async function startListing(mode: string): Promise<Lab> {
  const lab = await startLab({ env: { PERSISTED_OPERATIONS: mode, PERSISTED_OPERATIONS_FILE: file } });
  token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
  return lab;
}

describe('enforced', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startListing('enforce');
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test.each(viewerWays)('viewers may send over %s what is listed, to the letter', async (_name, ask) => {
    const before = lab.sandbox.calls.length;
    expect(await codeOf(lab, ask, own)).toBe('ok');
    expect(await codeOf(lab, ask, unlisted)).toBe('OPERATION_NOT_LISTED');
    expect(await codeOf(lab, ask, `${own} `)).toBe('OPERATION_NOT_LISTED');
    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test.each(ways)('servers of the team may send anything over %s', async (_name, ask) => {
    expect(await codeOf(lab, ask, unlisted)).toBe('ok');
  });

  test.each(viewerWays)('the widget reads an order over %s', async (_name, ask) => {
    const order = lab.sandbox.orders().find(({ userId }) => userId === lab.sandbox.users()[0]?.userId);
    const answer = await ask(lab, READ_ORDER, { orderId: order?.orderId, full: true });
    expect(answer).toMatchObject({ data: { order: { id: order?.orderId } } });
  });

  test('over HTTP the refusal is 403', async () => {
    expect((await lab.query(unlisted, { token })).status).toBe(403);
  });
});

test('logged: each unlisted document is logged once by its hash, counted each time, and answered', async () => {
  await using lab = await startListing('log');
  for (const [, ask] of viewerWays) expect(await codeOf(lab, ask, unlisted)).toBe('ok');
  const lines = lab.logged.filter((line) => line.includes('operation.unlisted'));
  expect(lines.map((line) => JSON.parse(line).documentHash)).toEqual([hashOf(unlisted)]);
  expect(lab.logged.join()).not.toContain('scopes');
  const metrics = await (await fetch(`${lab.url}/metrics`)).text();
  expect(metrics).toContain('labgraph_unlisted_operations_total 3');
});

test('off: nothing is logged', async () => {
  await using lab = await startListing('off');
  expect((await lab.query(unlisted, { token })).errors).toBeUndefined();
  expect(lab.logged.join()).not.toContain('operation.unlisted');
});

const base = { mode: 'enforce', files: [], whereBuilt: [], onUntrusted: () => {} } as const;

test('the documents of the widget are all on the list of its build', () => {
  const names = Object.values<string>(JSON.parse(describeOperations())).map(
    (document) => /^\w+ (\w+)/.exec(document)?.[1],
  );
  expect(names.toSorted()).toEqual([
    'PortalDocument',
    'PortalLaunch',
    'PortalOrder',
    'PortalOrderUpdates',
    'PortalResults',
    'PortalTicket',
  ]);
});

test.each([
  ['of nothing, where all would be refused', {}, /needs a list/],
  ['that is not there', { files: [folder.file('nowhere.json')] }, /cannot be read/],
  ['of another form', { files: [writeList('form.json', ['{ a }'])] }, /is neither a JSON object/],
  [
    'with an id that no tool makes',
    { files: [writeList('custom.json', { readViewer: '{ a }' })] },
    /another document under readViewer/,
  ],
  [
    'whose id names another document in a second list',
    {
      files: ['{ a }', '{ b }'].map((body, number) =>
        writeList(`${number}.json`, {
          format: 'apollo-persisted-query-manifest',
          version: 1,
          operations: [{ id: 'read', name: 'read', type: 'query', body }],
        }),
      ),
    },
    /two documents with the id read/,
  ],
  [
    'with another document under a hash',
    { files: [writeList('other.json', { [hashOf('{ a }')]: '{ b }' })] },
    /another document/,
  ],
])('a list %s stops the start', (_what, options, message) => {
  expect(() => createTrustedDocuments({ ...base, ...options })).toThrow(message);
});

test('the number of unlisted documents that are logged is bounded', () => {
  const lines: (string | null)[] = [];
  const trustedDocuments = createTrustedDocuments({
    ...base,
    mode: 'log',
    onUntrusted: (hash) => lines.push(hash),
  });
  const viewer = {
    kind: 'USER',
    userId: 'u',
    orderIds: null,
    scopes: [],
    issuedAt: new Date(),
    expiresAt: new Date(),
    tokenId: null,
    origins: null,
  } as const;
  for (let count = 0; count < 1005; count += 1)
    trustedDocuments.check(viewer, trustedDocuments.lookUp(`{ a${count} }`));
  expect(lines.filter((hash) => hash !== null)).toHaveLength(1000);
});

afterAll(() => folder[Symbol.dispose]?.());
