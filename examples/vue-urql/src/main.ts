/**
 * Vue and urql: shows the newest order of whoever is signed in, and follows it live. Subscriptions go through
 * `forwardSubscription`, so that the page misses nothing when its connection, its token or the gateway ends.
 *
 * npm install && npm install <where it is>/labgraph-client-0.1.0.tgz
 * LABGRAPH_KEY=<a gateway key> LABGRAPH_USER_ID=<a user's id> npm run dev
 */
import urqlPlugin from '@urql/vue';
import { createApp } from 'vue';
import { urql } from './labgraph.ts';
import NewestOrder from './newest-order.vue';

createApp(NewestOrder).use(urqlPlugin, urql).mount('#app');
