import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import {
  type Subscribed,
  subscribeOverMultipart,
  subscribeOverSse,
  subscribeOverWebSocket,
} from '../support/subscribe.ts';

const query = `subscription ($id: ID!, $after: EventCursor) {
  orderUpdates(orderId: $id, after: $after) { kind cursor event { id status { raw } } }
}`;
const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';
const lifeSeconds = 5;

/** What a walk-in order goes through, as far as these tests go. */
const steps = [
  'received.walk_in_test.requisition_created',
  'collecting_sample.walk_in_test.appointment_pending',
  'collecting_sample.walk_in_test.appointment_scheduled',
];

interface Update {
  readonly kind: string;
  readonly cursor: string;
  readonly event: { readonly status: { readonly raw: string } } | null;
}

async function step(lab: Lab, id: string): Promise<void> {
  const answer = await lab.query(simulate, { variables: { id } });
  expect(answer.data.simulateOrder.__typename).toBe('OrderSimulated');
  await lab.sandbox.webhooks.settled();
}

/** The next updates up to the end of the stream, and what it ended with: null, or the close of its socket. */
async function readToEnd(stream: Subscribed) {
  const seen: Update[] = [];
  try {
    for (let item = await stream.next(); item !== null; item = await stream.next()) {
      expect(item.errors).toBeUndefined();
      seen.push(item.data.orderUpdates);
    }
    return { seen, closed: null };
  } catch (closed) {
    return { seen, closed };
  }
}

test.concurrent.each([
  ['WebSocket, closed with 4403', subscribeOverWebSocket, expect.objectContaining({ code: 4403 })],
  ['SSE, closed', subscribeOverSse, null],
  ['multipart, cut before its last boundary', subscribeOverMultipart, expect.any(Error)],
])(
  'a stream ends with its token over %s, and goes on with a new one without a miss or a repetition',
  async (_name, subscribe, end) => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    const [id, userId] = [order?.orderId ?? '', order?.userId ?? ''];
    const token = await lab.tokenFor(userId, { ttlSeconds: lifeSeconds });
    const first = await subscribe({ url: lab.url, token, query, variables: { id } });
    const snapshot: Update = (await first.next())?.data.orderUpdates;
    expect(snapshot.kind).toBe('SNAPSHOT');
    await step(lab, id);

    const { seen, closed } = await readToEnd(first);
    const endedAt = Date.now();

    expect(closed).toEqual(end);
    expect(endedAt).toBeGreaterThanOrEqual((Number(decodeJwt(token).exp) - 1) * 1000);
    await step(lab, id);
    const again = await subscribe({
      ...{ url: lab.url, token: await lab.tokenFor(userId), query },
      variables: { id, after: seen.at(-1)?.cursor ?? snapshot.cursor },
    });
    await step(lab, id);
    // On a busy machine the token may end before the first of the three came.
    while (seen.length < steps.length) seen.push((await again.next())?.data.orderUpdates);
    expect(seen.map(({ kind, event }) => [kind, event?.status.raw])).toEqual(
      steps.map((status) => ['CHANGED', status]),
    );
    await again.close();
  },
);
