import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What `listen` remembers between two runs: a small file that is replaced as a whole. */
export interface Stored {
  readonly path: string;
  /** @returns null where there is none yet */
  readonly read: () => Promise<string | null>;
  /** Settles when the text is durable: after a kill there is the old text or the new one. */
  readonly write: (text: string) => Promise<void>;
}

/** A file in `$XDG_STATE_HOME/labgraph`, else `~/.local/state/labgraph`; nobody else can read it. */
export function createStored(env: Readonly<Record<string, string | undefined>>, name: string): Stored {
  const folder = join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'labgraph');
  const path = join(folder, name);
  return {
    path,
    read: async () => {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw error;
      }
    },
    write: async (text) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const next = `${path}.${process.pid}`;
      const file = await open(next, 'w', 0o600);
      try {
        await file.writeFile(text);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(next, path);
    },
  };
}

/** A name for a file that belongs to these words and to no others. */
export function nameFor(...words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}

export function generateSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}
