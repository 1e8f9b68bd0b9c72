import { Agent, request } from 'node:http';
import type { Target } from './connections.ts';

export interface NewlineOptions extends Target {
  readonly token: string;
  /** Documents under way at any time. */
  readonly connections: number;
}

/** Documents by the status of their answer; 0 where there was none. */
export type NewlineReport = Readonly<Record<string, number>>;

const lines = (count: number, write: (index: number) => string, end = '\n') =>
  Array.from({ length: count }, (_, index) => write(index)).join(end);

/** As long as a document may be, so that little more of one kind is refused before it is read. */
const most = { lines: 1990, characters: 49_000, fields: 480 } as const;

/** Documents of many lines with many errors. Each is written with a number, so that none is like one before it. */
const documents: readonly ((number: number) => string)[] = [
  // What once took 29 s: far more lines than a document may have, and as many errors as one may make.
  (number) => `{ viewer { ${'\n'.repeat(45_000)} ${lines(100, (index) => `f${number}_${index}`)} } }`,
  // Within the limits: errors at the end of as many lines and characters as there may be.
  (number) =>
    `{ viewer { ${`${' '.repeat(15)}\n`.repeat(1400)} ${lines(most.fields, (index) => `f${number}_${index}`)} } }`,
  (number) => `{ viewer { ${lines(most.fields, (index) => `f${number}_${index}`, '\r\n\r\n\r\n')} } }`,
  (number) => `{ ${lines(most.fields, (index) => `a${index}: f${number}_${index} @a @b`, '\r')} }`,
  (number) => `{ order(id: """${'\n'.repeat(most.lines)}""") { f${number} } }`,
  (number) => `${lines(most.lines, (index) => `# ${index}`)}\n{ f${number} }`,
  (number) => `${'\n'.repeat(most.lines)}{ f${number} `,
  // Nothing but newlines.
  (number) => '\n'.repeat(most.characters - (number % 1000)),
  (number) => '\r\n'.repeat(45_000 - (number % 1000)),
];

/** Asks documents of many lines as fast as they are answered, until the signal aborts. */
export async function sendNewlineDocuments(options: NewlineOptions): Promise<NewlineReport> {
  const { connections, signal } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses: Record<string, number> = {};
  let asked = 0;
  const askOn = async () => {
    while (!signal.aborted) {
      asked += 1;
      const write = documents[asked % documents.length];
      const status = await post(options, { agent, query: write?.(asked) ?? '' });
      if (!signal.aborted) statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, askOn));
  agent.destroy();
  return statuses;
}

function post(
  { url, token, signal }: NewlineOptions,
  { agent, query }: { readonly agent: Agent; readonly query: string },
): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const { promise, resolve } = Promise.withResolvers<number>();
  const posting = request(`${url}/graphql`, { method: 'POST', agent, headers, signal }, (response) => {
    response.resume();
    response.once('close', () => resolve(response.statusCode ?? 0));
  });
  posting.on('error', () => resolve(0));
  posting.end(JSON.stringify({ query }));
  return promise;
}
