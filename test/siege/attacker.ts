import { setPriority } from 'node:os';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { attacks, type Counts, sum } from './attacks.ts';

/** What the process that attacks is given as its one argument. */
export interface Order {
  readonly name: string;
  readonly url: string;
  readonly token: string;
}

// A separate process: its processor time is not the gateway's, and it has a lower priority than the gateway.
setPriority(10);
const { name, url, token }: Order = JSON.parse(process.argv[2] ?? '{}');
const attack = attacks[name];
if (attack === undefined) throw new Error(`There is no attack named ${name}.`);

const over = new AbortController();
process.once('message', () => over.abort());
// Nobody is left who would end it.
process.once('disconnect', () => process.exit());
const reports: Counts[] = [];
while (!over.signal.aborted) {
  reports.push(await attack({ url, token, signal: over.signal }));
  // Attacks that end at once must not starve the event loop of the disconnect.
  await wait(20);
}
process.send?.(sum(reports));
process.disconnect?.();
