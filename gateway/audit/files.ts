import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditKey, beginningOf, type Head, linkLine, type NewLine, readLine } from './line.ts';

const name = /^\d{8}T\d{9}Z-[0-9a-f]{8}\.jsonl$/;
const chunkBytes = 16_384;
const newline = 0x0a;

interface Appended {
  /** The error that stopped the write of all lines; the file must not be written any more then. */
  readonly fault: unknown;
}

/** A file of the trail that only this process writes. */
export class TrailFile {
  readonly #handle: FileHandle;
  readonly #key: AuditKey;
  #head: Head;
  #bytes = 0;

  constructor(handle: FileHandle, { file, key }: FilePlace) {
    this.#handle = handle;
    this.#key = key;
    this.#head = beginningOf(file);
  }

  /** How far the file goes. */
  get head(): Head {
    return this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Writes all lines and syncs them to the disk. Lines that are not synced could be gone after a power cut, so after a fault
   * the file is cut back to the lines before, and no later file names a line that is not on the disk. Never rejects.
   */
  async append(lines: readonly NewLine[]): Promise<Appended> {
    const before = this.#head;
    const texts = lines.map((line) => {
      const linked = linkLine(this.#key, this.#head, line);
      this.#head = linked.head;
      return linked.text;
    });
    const text = texts.join('');
    try {
      await this.#handle.appendFile(text);
      await this.#handle.datasync();
      this.#bytes += Buffer.byteLength(text);
      return { fault: null };
    } catch (fault) {
      this.#head = before;
      await this.#handle.truncate(this.#bytes).catch(() => undefined);
      return { fault };
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

interface FilePlace {
  readonly file: string;
  readonly key: AuditKey;
}

/**
 * Begins a file. A gateway never appends to a file of an earlier process. So neither a kill nor a second gateway over the
 * same folder needs a lock or a repair: an incomplete line is the last of its file, and the next file names that head.
 * @throws the error of the file system
 */
export async function beginFile(folder: string, key: AuditKey): Promise<TrailFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const now = new Date();
  const opened = await findUnnamedHeads(folder);
  const file = newFileName(now);
  const path = join(folder, file);
  const trailFile = new TrailFile(await open(path, 'ax', 0o600), { file, key });
  const { fault } = await trailFile.append([{ at: now.toISOString(), opened: [...opened] }]);
  if (fault === null) return trailFile;
  await trailFile.close();
  // An empty file is useless, and a full disk would collect one each second.
  await unlink(path);
  throw fault;
}

/** Names sort by time, and no two gateways make the same name. */
function newFileName(now: Date): string {
  return `${now.toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}.jsonl`;
}

/** The trail's files in a folder, oldest first. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((found) => name.test(found)).toSorted();
}

/**
 * The heads of all files that no file has named yet. A new file names them, so that nobody can remove their lines unnoticed.
 * The head of a file that another gateway is writing is its newest line.
 */
async function findUnnamedHeads(folder: string): Promise<readonly Head[]> {
  const ends = [];
  for (const file of await listFiles(folder)) ends.push(await readEnds(folder, file));
  const named = new Set(ends.flatMap(({ opened }) => opened.map(({ file, n }) => `${file} ${n}`)));
  return ends.flatMap(({ head }) => (head === null || named.has(`${head.file} ${head.n}`) ? [] : [head]));
}

/** The heads that a file names in its first line. */
export async function readOpened(folder: string, file: string): Promise<readonly Head[]> {
  return (await readEnds(folder, file)).opened;
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

/** Another gateway may begin a file, fail to write it, and remove it again. */
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

/** The last whole line. A line that was being written when its gateway was killed has no end. */
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
