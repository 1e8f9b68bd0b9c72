import { request } from 'undici';
import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

const query = `subscription ($after: EventCursor) {
  events(after: $after) { cursor ... on UnknownEvent { payload } }
}`;
const eventCount = 1000;
/** All together are far more than the two systems between the gateway and a client hold. */
const filler = 'x'.repeat(20_000);

async function open(lab: Lab, accept: string, after?: string) {
  const { body } = await request(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { accept, authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { after } }),
  });
  return body.setEncoding('utf8');
}

type Body = Awaited<ReturnType<typeof open>>;
type Item = { readonly cursor: string; readonly index: number };

/** The items that come whole, until there are enough of them or the stream ends. */
async function readItems(body: Body, count: number): Promise<readonly Item[]> {
  const items: Item[] = [];
  let text = '';
  try {
    for await (const chunk of body) {
      const lines = `${text}${chunk}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const [, cursor, index] = /"cursor":"([^"]+)".*"index":(\d+)/.exec(line) ?? [];
        if (cursor !== undefined) items.push({ cursor, index: Number(index) });
      }
      if (items.length >= count) break;
    }
  } catch {
    // The gateway has reset the connection.
  }
  return items;
}

async function readMetric(lab: Lab, name: string): Promise<number> {
  const text = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
  );
}

test.each([
  ['sse', 'text/event-stream'],
  ['multipart', 'multipart/mixed;subscriptionSpec=1.0'],
])(
  'a stream over %s whose client does not read goes no further than the client, is cut, and goes on at its cursor',
  async (transport, accept) => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const sent = () => readMetric(lab, `labgraph_follow_lag_seconds_count{transport="${transport}"}`);
    const body = await open(lab, accept);
    body.pause();
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    for (let index = 0; index < eventCount; index += 1)
      lab.sandbox.webhooks.send('of.size', { index, filler }, { userId });
    await lab.sandbox.webhooks.settled();

    await expect.poll(() => readMetric(lab, 'labgraph_connections_cut_total{reason="stalled"}')).toBe(1);
    expect(await readMetric(lab, `labgraph_subscriptions{transport="${transport}"}`)).toBe(0);
    expect(await sent()).toBeLessThan(eventCount / 2);

    const before = await readItems(body, eventCount);
    const rest = await open(lab, accept, before.at(-1)?.cursor);
    const after = await readItems(rest, eventCount - before.length);
    rest.destroy();
    const indexes = [...before, ...after].map(({ index }) => index);
    expect(indexes.toSorted((one, other) => one - other)).toEqual([...Array(eventCount).keys()]);
  },
);
