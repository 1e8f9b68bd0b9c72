import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Head, readLine } from './line.ts';

const name = /^\d{8}T\d{9}Z-[0-9a-f]{8}\.jsonl$/;
const chunkBytes = 16_384;
const newline = 0x0a;

/** A new name: they sort by time, and no two gateways make the same. */
export function newFileName(now: Date): string {
  return `${now.toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}.jsonl`;
}

/** The trail's files in a folder, oldest first. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((found) => name.test(found)).toSorted();
}

/**
 * The ends of all files that no file has named yet: what a new one names, so that nothing before them can be taken
 * away unnoticed. Of gateways that are still writing it is how far they have come.
 */
export async function findUnnamedHeads(folder: string): Promise<readonly Head[]> {
  const ends = [];
  for (const file of await listFiles(folder)) ends.push(await readEnds(folder, file));
  const named = new Set(ends.flatMap(({ opened }) => opened.map(({ file, n }) => `${file} ${n}`)));
  return ends.flatMap(({ head }) => (head === null || named.has(`${head.file} ${head.n}`) ? [] : [head]));
}

/** What a file names in its first line: the ends that were there when it was begun. */
export async function readOpened(folder: string, file: string): Promise<readonly Head[]> {
  return (await readEnds(folder, file)).opened;
}

/** How far a file goes in whole lines; null when it has none. */
export async function readHead(folder: string, file: string): Promise<Head | null> {
  return (await readEnds(folder, file)).head;
}

interface Ends {
  readonly opened: readonly Head[];
  readonly head: Head | null;
}

async function readEnds(folder: string, file: string): Promise<Ends> {
  const handle = await open(join(folder, file)).catch(ignoreGone);
  if (handle === null) return { opened: [], head: null };
  try {
    const first = readLine(await readFirstLine(handle));
    const last = readLine(await readLastLine(handle));
    return {
      opened: first !== null && 'opened' in first.line ? first.line.opened : [],
      head: last && { file, n: last.line.n, link: last.link },
    };
  } finally {
    await handle.close();
  }
}

/** Another gateway begins a file, cannot write it and takes it away again. */
function ignoreGone(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}

async function readFirstLine(handle: FileHandle): Promise<string> {
  const { size } = await handle.stat();
  let text = Buffer.alloc(0);
  while (!text.includes(newline) && text.length < size) {
    text = Buffer.concat([text, await readAt(handle, text.length, chunkBytes)]);
  }
  return text.subarray(0, Math.max(text.indexOf(newline), 0)).toString('utf8');
}

/** The last whole line: one that was being written when its gateway was killed has no end. */
async function readLastLine(handle: FileHandle): Promise<string> {
  const { size } = await handle.stat();
  let from = size;
  let text = Buffer.alloc(0);
  while (from > 0) {
    const bytes = Math.min(chunkBytes, from);
    from -= bytes;
    text = Buffer.concat([await readAt(handle, from, bytes), text]);
    const end = text.lastIndexOf(newline);
    const start = end < 1 ? -1 : text.lastIndexOf(newline, end - 1);
    if (end >= 0 && (start >= 0 || from === 0)) return text.subarray(start + 1, end).toString('utf8');
  }
  return '';
}

async function readAt(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await handle.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
