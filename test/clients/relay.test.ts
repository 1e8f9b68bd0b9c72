import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createElement, Suspense } from 'react';
import { RelayEnvironmentProvider, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { act, create } from 'react-test-renderer';
import {
  createOperationDescriptor,
  Environment,
  type FragmentType,
  fetchQuery,
  type GraphQLTaggedNode,
  Network,
  type OperationType,
  RecordSource,
  type RequestParameters,
  Store,
  type Variables,
} from 'relay-runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey } from '../support/lab.ts';
import { type Bench, bearer, startBench } from './support.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('.', import.meta.url));

/** As docs/clients.md has it; the compiler takes paths from here. */
const config = {
  src: 'relay',
  schema: '../../schema.graphql',
  language: 'typescript',
  artifactDirectory: 'relay/built',
  eagerEsModules: true,
  schemaConfig: { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' },
};

async function compile(more: object = {}): Promise<void> {
  mkdirSync(`${folder}relay/built`, { recursive: true });
  writeFileSync(`${folder}relay/built/config.json`, JSON.stringify({ ...config, ...more }));
  const compiler = `${folder}node_modules/relay-compiler/cli.js`;
  await run(process.execPath, [compiler, 'relay/built/config.json'], { cwd: folder });
}

const load = async (name: string) => {
  const path = `./relay/built/${name}.graphql.ts`;
  return (await import(/* @vite-ignore */ path)).default;
};

let bench: Bench;
beforeAll(async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  await compile();
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

function createEnvironment(bodyOf = ({ text }: RequestParameters): object => ({ query: text })) {
  const send = async (request: RequestParameters, variables: Variables) => {
    const headers = { 'content-type': 'application/json', ...bearer(gatewayKey) };
    const body = JSON.stringify({ ...bodyOf(request), variables });
    return (await fetch(bench.url, { method: 'POST', headers, body })).json();
  };
  return new Environment({
    network: Network.create(send),
    store: new Store(new RecordSource()),
    // The raw ids of the service are unique within their type only.
    getDataID: (value: Readonly<Record<string, unknown>>) => value.nodeId,
  });
}

interface Item {
  readonly id: string;
}

interface Page {
  readonly orders: { readonly edges: readonly { readonly node: Item }[] };
}

interface Plain {
  readonly users: {
    readonly nodes: readonly {
      readonly nodeId: string;
      readonly orders: { readonly nodes: readonly Item[] };
    }[];
  };
  readonly labTests: {
    readonly nodes: readonly {
      readonly markers: { readonly nodes: readonly (Item & { readonly lab: Item | null })[] };
    }[];
  };
}

/** The same without Relay. */
async function ask(query: string): Promise<Plain> {
  const headers = { 'content-type': 'application/json', ...bearer(gatewayKey) };
  const response = await fetch(bench.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.json()).data;
}

interface Shown {
  readonly query: GraphQLTaggedNode;
  readonly fragment: GraphQLTaggedNode;
  readonly nodeId: string;
  readonly onPage: (ids: readonly string[], loadNext: (count: number) => void) => void;
}

interface OrdersQuery extends OperationType {
  readonly response: { readonly node: { readonly user: OrdersKey } };
}

interface OrdersKey {
  readonly ' $data': Page;
  readonly ' $fragmentSpreads': FragmentType;
}

function App(shown: Shown) {
  const { node } = useLazyLoadQuery<OrdersQuery>(shown.query, { nodeId: shown.nodeId });
  return createElement(Orders, { ...shown, node: node.user });
}

function Orders({ fragment, node, onPage }: Shown & { readonly node: OrdersKey }) {
  const { data, loadNext } = usePaginationFragment<OrdersQuery, OrdersKey>(fragment, node);
  onPage(
    data.orders.edges.map((edge) => edge.node.id),
    loadNext,
  );
  return null;
}

test('the compiler makes a query by nodeId for each @refetchable fragment', async () => {
  const built = readdirSync(`${folder}relay/built`);
  for (const name of ['Orders', 'Order', 'LabTest']) {
    const file =
      built.find((file) => new RegExp(`operations${name}(Pagination|Refetch)Query`).test(file)) ?? '';
    expect(readFileSync(`${folder}relay/built/${file}`, 'utf8')).toContain('node(nodeId: $nodeId)');
  }
});

test('usePaginationFragment reads a user’s orders page after page', async () => {
  const query = await load('operationsOrdersQuery');
  const fragment = await load('operationsOrders');
  const { users } = await ask('{ users(first: 20) { nodes { nodeId orders(first: 20) { nodes { id } } } } }');
  const user = users.nodes.find(({ orders }) => orders.nodes.length > 1);
  const pages: (readonly string[])[] = [];
  let loadMore = (_count: number) => {};
  const app = createElement(App, {
    query,
    fragment,
    nodeId: user?.nodeId ?? '',
    onPage: (ids, loadNext) => {
      pages.push(ids);
      loadMore = loadNext;
    },
  });
  await act(async () => {
    const waiting = createElement(Suspense, { fallback: null }, app);
    create(createElement(RelayEnvironmentProvider, { environment: createEnvironment() }, waiting));
  });
  await expect.poll(() => pages.at(-1)?.length).toBe(1);

  await act(async () => loadMore(1));

  await expect.poll(() => pages.at(-1)).toEqual(user?.orders.nodes.slice(0, 2).map(({ id }) => id));
});

test('ids that two types share do not meet in the store', async () => {
  const query = await load('operationsCollidingIdsQuery');
  const environment = createEnvironment();
  const plain = await ask(
    `{ labTests(first: 5) { nodes { id name markers(first: 5) { nodes { id name lab { id name } } } } } }`,
  );

  await fetchQuery(environment, query, {}).toPromise();
  const { data } = environment.lookup(createOperationDescriptor(query, {}).fragment);

  expect(JSON.parse(JSON.stringify(data))).toEqual(plain);
  const markers = plain.labTests.nodes.flatMap((labTest) => labTest.markers.nodes);
  const labs = new Set(markers.map(({ lab }) => lab?.id));
  expect(markers.some(({ id }) => labs.has(id))).toBe(true);
});

describe.each(['MD5', 'SHA256'])('persisted with %s', (algorithm) => {
  test('a list is written that the gateway takes', async () => {
    const { readDocumentList } = await import('../../gateway/execution/document/document-list.ts');
    const file = `relay/built/web@${algorithm}.json`;
    const artifacts = `relay/built/${algorithm}`;
    mkdirSync(`${folder}${artifacts}`, { recursive: true });
    writeFileSync(`${folder}${file}`, '{}');

    await compile({ persistConfig: { file, algorithm }, artifactDirectory: artifacts });

    expect(readDocumentList(`${folder}${file}`).documents.length).toBeGreaterThan(4);
  });
});
