import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findUnnamedHeads, newFileName, readHead } from './folder.ts';
import type { AuditKey } from './keys.ts';
import { beginningOf, type Head, linkLine, type NewLine } from './line.ts';

/** A file of the trail that this process, and nobody else, writes. */
export interface ChainFile {
  /** How far it goes. */
  readonly head: () => Head;
  readonly bytes: () => number;
  /**
   * Writes lines and has the disk keep them.
   * @returns how many of them stand in the file, and the fault that kept it from being all: then the file is spoilt
   */
  readonly append: (lines: readonly NewLine[]) => Promise<Appended>;
  readonly close: () => Promise<void>;
}

interface Appended {
  readonly kept: number;
  readonly fault: unknown;
}

/**
 * Begins a file. Nobody ever writes on in a file of before, so neither a kill nor a second gateway over the same folder
 * needs a lock or a repair: a line that was cut is the last of its file, and the next file says how far it went.
 * @throws what the file system throws
 */
export async function beginFile(folder: string, key: AuditKey): Promise<ChainFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const now = new Date();
  const opened = await findUnnamedHeads(folder);
  const file = newFileName(now);
  const path = join(folder, file);
  const handle = await open(path, 'ax', 0o600);
  const chain = createChainFile(handle, { folder, file, key });
  const { fault } = await chain.append([{ at: now.toISOString(), opened: [...opened] }]);
  if (fault === null) return chain;
  await chain.close();
  // What holds no line is of no use to anybody; a disk that is full would gather one a second.
  await unlink(path);
  throw fault;
}

interface Place {
  readonly folder: string;
  readonly file: string;
  readonly key: AuditKey;
}

function createChainFile(handle: FileHandle, { folder, file, key }: Place): ChainFile {
  let head = beginningOf(file);
  let bytes = 0;
  return {
    head: () => head,
    bytes: () => bytes,
    append: async (lines) => {
      const before = head;
      const texts: string[] = [];
      for (const line of lines) {
        const linked = linkLine(key, head, line);
        texts.push(linked.text);
        head = linked.head;
      }
      const text = texts.join('');
      try {
        await handle.appendFile(text);
        await handle.datasync();
        bytes += Buffer.byteLength(text);
        return { kept: lines.length, fault: null };
      } catch (fault) {
        const reached = await readHead(folder, file).catch(() => null);
        head = reached ?? before;
        return { kept: head.n - before.n, fault };
      }
    },
    close: () => handle.close(),
  };
}
