import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, startLab, webhookSecret } from '../../support/lab.ts';
import { hear, kill, startLabgraph, startTarget } from '../../support/labgraph-command.ts';

const type = 'moon.phase.created';

/** A gateway, a receiver whose first answer is 500, and `labgraph listen` between them. */
export async function startListening() {
  const lab = await startLab({ eventLog: 'sqlite' });
  const folder = makeFolder();
  const target = await startTarget(webhookSecret, [500]);
  const [user] = lab.sandbox.users();
  if (user === undefined) throw new Error('The world has no user.');
  writeFileSync(folder.file('secret'), `${webhookSecret}\n`);
  const env = { XDG_STATE_HOME: folder.path, LABGRAPH_URL: lab.url, LABGRAPH_KEY: gatewayKey };
  const args = [
    'listen',
    '--forward-to',
    target.url,
    '--events',
    type,
    '--secret-file',
    folder.file('secret'),
  ];
  const lines: Readonly<Record<string, unknown>>[] = [];
  const begin = () => {
    const child = startLabgraph({ args, env });
    if (child.stdout === null) throw new Error('A command has no output.');
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
    return child;
  };
  let child = begin();
  const send = (n: number) => lab.sandbox.webhooks.send(type, { n }, { userId: user.userId });
  await hear(child, 'Connected.');
  send(0);
  await vi.waitFor(
    () => {
      if (target.received.length === 0) throw new Error('Nothing was forwarded yet.');
    },
    { timeout: 150_000 },
  );
  return {
    lab,
    env,
    target,
    send,
    /** What it has printed. */
    lines,
    secretFile: folder.file('secret'),
    /** The numbers of the events that arrived, without the first. */
    numbers: () =>
      target.received
        .map(({ event }) => event.data)
        .map((data) =>
          typeof data === 'object' && data !== null && 'n' in data ? Number(data.n) : Number.NaN,
        )
        .filter((n) => n > 0),
    kill: () => kill(child),
    start: () => {
      child = begin();
    },
    [Symbol.asyncDispose]: async () => {
      await kill(child);
      target[Symbol.dispose]();
      await lab[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
