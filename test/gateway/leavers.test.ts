import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { silence } from '../support/misbehaving-service.ts';
import { openSocket } from '../support/socket.ts';
import { type SpoiltLab, startSpoiltLab } from '../support/spoilt-lab.ts';

let lab: SpoiltLab;

beforeAll(async () => {
  lab = await startSpoiltLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const query = '{ users(first: 1) { nodes { id } } }';

/** A query over HTTP, and the way to leave before it is answered. */
function askOverHttp(): () => Promise<void> {
  const client = new AbortController();
  const asked = fetch(graphqlRequest(lab.url, { query }, gatewayKey), { signal: client.signal });
  return async () => {
    client.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  };
}

function askOverSocket(): () => Promise<void> {
  const { client, ask, closed } = openSocket(lab);
  void ask(query);
  return async () => {
    client.terminate();
    await closed;
  };
}

/** The socket stays; only the operation is completed, as by a page that no longer shows it. */
function completeOverSocket(): () => Promise<void> {
  const { client } = openSocket(lab);
  const results = client.iterate({ query });
  void results.next();
  return async () => {
    await results.return?.();
    onTestFinished(async () => void (await client.dispose()));
  };
}

const isFailure = (line: string) => JSON.parse(line).level >= 50;

test.each([
  ['HTTP', askOverHttp],
  ['a socket', askOverSocket],
  ['a socket that stays', completeOverSocket],
])('who leaves over %s while the service works is counted and is no failure', async (_name, ask) => {
  const countAbandoned = async () => {
    const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
    return Number(/^labgraph_operations_total\{outcome="ABANDONED"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
  const before = await countAbandoned();
  const sent = lab.sent.length;
  lab.spoil({ at: /^GET \/v2\/user/, isDone: false, answer: silence });
  const leave = ask();
  await expect.poll(() => lab.sent.length).toBe(sent + 1);

  await leave();

  await expect.poll(countAbandoned).toBe(before + 1);
  expect(lab.logged.filter(isFailure)).toEqual([]);
});
