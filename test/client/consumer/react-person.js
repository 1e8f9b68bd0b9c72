import process from 'node:process';
import { createLabgraphClient } from '@labgraph/client';
import { useOrder, usePortalToken } from '@labgraph/client/react';
import { createElement, useMemo } from 'react';
import { create } from 'react-test-renderer';

/** Two people with a token each, their order of a kit, and how it is registered to the second. */
const { url, key, tokens, orderId, register } = JSON.parse(process.argv[2]);
const [former, present] = tokens.map((token) => ({ fetchViewerToken: async () => token }));
const shown = [];
let rendered = Promise.withResolvers();

function Page({ session }) {
  const token = usePortalToken(() => session.fetchViewerToken(), session);
  const labgraph = useMemo(() => createLabgraphClient({ url, token }), [token]);
  return createElement(Status, { labgraph, person: session === former ? 'former' : 'present' });
}

/** Its effects run before those of the page. */
function Status({ labgraph, person }) {
  const { order, isLive, error } = useOrder(labgraph, orderId);
  shown.push([person, order !== null, isLive, error?.code ?? null]);
  rendered.resolve();
  rendered = Promise.withResolvers();
  return null;
}

async function waitFor(isShown) {
  while (!isShown(...shown.at(-1).slice(1))) await rendered.promise;
}

const root = create(createElement(Page, { session: former }));
await rendered.promise;
await waitFor((hasOrder, isLive) => hasOrder && isLive);
// Another person signs in on the same page, and leaves it.
root.update(createElement(Page, { session: present }));
await waitFor((_hasOrder, _isLive, code) => code !== null);
root.update(createElement(Page, { session: former }));
await waitFor((hasOrder, isLive) => hasOrder && isLive);
const server = createLabgraphClient({ url, token: key });
const document = 'mutation ($input: RegisterTestkitInput!) { registerTestkit(input: $input) { __typename } }';
await server.mutate(document, { input: register });
await waitFor((hasOrder, _isLive, code) => !hasOrder || code !== null);
root.unmount();
process.stdout.write(JSON.stringify(shown));
