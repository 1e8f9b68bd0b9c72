import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { examineTrail } from '../audit/examine.ts';
import { type Head, parseHead } from '../audit/line.ts';
import type { KeptTrail } from './audit.ts';
import { type Command, orUnreadable } from './command.ts';

/** Reads the whole trail and says whether anything was changed, taken away, added, moved or cut off. */
export const verifyTrail: Command<KeptTrail> = {
  usage: '[--heads <log file>] [--from <file>]',
  summary:
    'reads the whole trail; with --heads it must go as far as this log of the gateway says; --from names the oldest file still here',
  options: { heads: { type: 'string' }, from: { type: 'string' } },
  run: async ({ store: { folder, keys }, options, print, say }) => {
    const heads =
      typeof options.heads === 'string' ? await orUnreadable('--heads', readHeads(options.heads)) : [];
    const from = typeof options.from === 'string' ? options.from : undefined;
    const { faults, remarks, ...counts } = await orUnreadable(
      'AUDIT_TRAIL',
      examineTrail({ folder, keys, from, heads }),
    );
    await print({ ...counts, heads: heads.length, faults: faults.length });
    for (const sentence of [...remarks, ...faults]) say(sentence);
    return faults.length === 0;
  },
};

/** What the gateway's log says of how far its files went. */
async function readHeads(path: string): Promise<readonly Head[]> {
  const heads: Head[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const text = /"head":"([^"]+)"/.exec(line)?.[1];
    const head = text === undefined ? null : parseHead(text);
    if (head !== null) heads.push(head);
  }
  return heads;
}
