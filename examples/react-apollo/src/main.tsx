/**
 * React and Apollo Client: shows the newest order of whoever is signed in, and follows it live. Subscriptions go through
 * `resumeLink`, so that the page misses nothing when its connection, its token or the gateway ends.
 *
 * npm install && npm install <where it is>/labgraph-client-0.1.0.tgz
 * LABGRAPH_KEY=<a gateway key> LABGRAPH_USER_ID=<a user's id> npm run dev
 */
import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { apollo } from './labgraph.ts';
import { NewestOrder } from './order.tsx';

const root = document.querySelector('#app');
if (root === null) throw new Error('The page has no #app.');
createRoot(root).render(
  <StrictMode>
    <ApolloProvider client={apollo}>
      <NewestOrder />
    </ApolloProvider>
  </StrictMode>,
);
