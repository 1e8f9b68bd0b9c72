import { parentPort, workerData } from 'node:worker_threads';

/** Who asks, and how many operations at any time. */
export interface Flood {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
}

/** Answers by outcome: ok, or the code of the first error. */
export type FloodReport = Readonly<Record<string, number>>;

// A thread of its own: reading megabytes of answers would delay the caller that is timed.
const { url, token, connections }: Flood = workerData;
const eventFields =
  'id createdAt statusDetail status { raw label stage isTerminal needsAttention method step }';
const events = (times: number) =>
  Array.from({ length: times }, (_, index) => `e${index}: events { ${eventFields} }`).join(' ');
const orders = (first: number, selection: string) => `orders(first: ${first}) { nodes { ${selection} } }`;
// As heavy as an answer may be, heavier, and as heavy as what is executed in one go.
const queries = [
  `{ ${orders(10, `user { ${orders(10, events(5))} }`)} }`,
  `{ ${orders(6, `user { ${orders(6, `user { ${orders(6, events(40))} }`)} }`)} }`,
  `{ ${orders(10, 'id events { id status { label stage } }')} }`,
];

const outcomes: Record<string, number> = {};
const over = new AbortController();
const signal = over.signal;
parentPort?.once('message', () => over.abort());
let asked = 0;

async function ask(): Promise<string> {
  asked += 1;
  const query = queries[asked % queries.length];
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    // None is like another, so none is answered by what another was.
    body: JSON.stringify({ query }) + ' '.repeat(asked % 10_000),
    signal,
  });
  // The code of a refusal is at its beginning; the rest is read and dropped.
  let head = '';
  for await (const chunk of response.body ?? []) head ||= Buffer.from(chunk).toString('latin1', 0, 1000);
  return /"code":"([A-Z_]+)"/.exec(head)?.[1] ?? 'ok';
}

await Promise.all(
  Array.from({ length: connections }, async () => {
    while (!signal.aborted) {
      const outcome = await ask().catch(() => 'no answer');
      if (!signal.aborted) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  }),
);
parentPort?.postMessage(outcomes);
