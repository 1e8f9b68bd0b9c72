/**
 * A Node worker that takes every change of an order from the gateway, once, and keeps a table of them.
 *
 * What it does for an event and the cursor behind that event are written in one transaction. So it may be killed at any
 * moment: started again it goes on at the first event that it has not stored. If your effect cannot be in a transaction
 * with the cursor (an e-mail, a call to another system), store the cursor after it: the last event may then come twice
 * after a kill, and its `event.id` says so.
 *
 * npm install && npm install <where it is>/labgraph-client-0.1.0.tgz
 * LABGRAPH_KEY=<a gateway key> npm start
 */

import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { createLabgraphClient } from '@labgraph/client';
import type { introspection, Scalars } from '@labgraph/client/schema';
import { initGraphQLTada, type ResultOf } from 'gql.tada';

const {
  LABGRAPH_URL: url = 'http://127.0.0.1:4000/graphql',
  LABGRAPH_KEY: token = '',
  DATABASE: file = 'orders.db',
} = process.env;

const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();

const events = graphql(`
  subscription OrderEvents($after: EventCursor) {
    events(after: $after, types: ["labtest.order.created", "labtest.order.updated"]) {
      __typename
      cursor
      ... on OrderEventReceived {
        order { id }
        event { id status { raw } }
      }
      ... on StreamReset { reason }
    }
  }
`);

type ServiceEvent = ResultOf<typeof events>['events'];

const database = new DatabaseSync(file);
database.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS change (number INTEGER PRIMARY KEY, order_id TEXT NOT NULL, event_id TEXT, status TEXT);
`);
const readCursor = database.prepare('SELECT cursor FROM place');
const writeCursor = database.prepare('INSERT OR REPLACE INTO place VALUES (1, ?)');
const addChange = database.prepare('INSERT INTO change (order_id, event_id, status) VALUES (?, ?, ?)');

function store(item: ServiceEvent): void {
  database.exec('BEGIN');
  if (item.__typename === 'OrderEventReceived' && item.order) {
    addChange.run(item.order.id, item.event?.id ?? null, item.event?.status.raw ?? null);
  }
  writeCursor.run(item.cursor);
  database.exec('COMMIT');
}

const leave = new AbortController();
process.once('SIGTERM', () => leave.abort());

const after = readCursor.get()?.cursor;
const updates = createLabgraphClient({ url, token }).follow(
  events,
  { after: typeof after === 'string' ? after : null },
  {
    transport: 'sse',
    signal: leave.signal,
    onOpen: () => console.log('following'),
    onRetry: ({ code }) => console.log(`cut off: ${code}`),
  },
);
for await (const { events: item } of updates) {
  store(item);
  if (item.__typename === 'StreamReset') console.log(`read all orders anew, events are lost: ${item.reason}`);
  else console.log(`stored ${item.__typename}`);
}
database.close();
