import type { Lab } from '../../support/lab.ts';
import { type Subscribed, transports } from '../../support/subscribe.ts';
import { step } from './people.ts';
import { documentOf } from './places.ts';
import type { Pair } from './reads.ts';

/** What is wrong with the stream of a user's orders while something happens to another order as well. */
export async function* findLiveLeaks(
  lab: Lab,
  { title, self, other, secrets }: Pair,
): AsyncGenerator<string> {
  const query = documentOf('Subscription.userOrderUpdates');
  const options = { url: lab.url, token: self.token, query, variables: { userId: self.userId } };
  const streams = await Promise.all(
    transports.map(async ([name, subscribe]) => ({ name, stream: await subscribe(options) })),
  );
  // An item has come: from here on changes arrive.
  const begun = await Promise.all(streams.map(async ({ stream }) => JSON.stringify(await stream.next())));
  await step(lab, other.orderId);
  await step(lab, self.orderId);
  for (const [index, { name, stream }] of streams.entries()) {
    const result = `${begun[index]}${await readUntilChange(stream, self.orderId)}`.toLowerCase();
    await stream.close();
    const leaked = secrets.filter((secret) => result.includes(secret));
    if (leaked.length > 0)
      yield `A change of ${title}, over ${name}: discloses ${leaked.join(' and ')} of somebody else`;
  }
}

async function readUntilChange(stream: Subscribed, orderId: string): Promise<string> {
  const items: string[] = [];
  for (let item = await stream.next(); item !== null; item = await stream.next()) {
    items.push(JSON.stringify(item));
    if (item.data?.result.kind === 'CHANGED' && item.data.result.order.id === orderId) return items.join('');
  }
  throw new Error('The stream ended before the change came.');
}
