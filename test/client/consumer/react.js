import process from 'node:process';
import { createLabgraphClient } from '@labgraph/client';
import { useOrder, usePortalToken } from '@labgraph/client/react';
import { createElement, useMemo } from 'react';
import { create } from 'react-test-renderer';

const [url, key, orderId] = process.argv.slice(2);
const server = createLabgraphClient({ url, token: key });
const shown = [];
let rendered = Promise.withResolvers();

function Status({ id }) {
  const token = usePortalToken(async () => key, key);
  const client = useMemo(() => createLabgraphClient({ url, token }), [token]);
  const { order, isLive, error } = useOrder(client, id);
  shown.push([order?.status.label ?? null, isLive, error?.code ?? null]);
  rendered.resolve();
  rendered = Promise.withResolvers();
  return null;
}

async function waitFor(isShown) {
  while (!isShown(...shown.at(-1))) await rendered.promise;
}

const root = create(createElement(Status, { id: orderId }));
await rendered.promise;
await waitFor((label) => label !== null);
const [before] = shown.at(-1);
await server.mutate('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', { id: orderId });
await waitFor((label) => label !== before);
root.update(createElement(Status, { id: '00000000-0000-4000-8000-000000000000' }));
await waitFor((_label, _isLive, code) => code !== null);
root.unmount();
process.stdout.write(JSON.stringify(shown));
