/**
 * React and Relay: shows the orders of whoever is signed in, page after page, and follows all of them live.
 * Subscriptions go through `follow`, so that the page misses nothing when its connection, its token or the gateway ends.
 *
 * npm install && npm install <where it is>/labgraph-client-0.1.0.tgz
 * LABGRAPH_KEY=<a gateway key> LABGRAPH_USER_ID=<a user's id> npm run dev
 */
import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { RelayEnvironmentProvider } from 'react-relay';
import { environment } from './labgraph.ts';
import { Orders } from './orders.tsx';

const root = document.querySelector('#app');
if (root === null) throw new Error('The page has no #app.');
createRoot(root).render(
  <StrictMode>
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback={<p>Loading…</p>}>
        <Orders />
      </Suspense>
    </RelayEnvironmentProvider>
  </StrictMode>,
);
