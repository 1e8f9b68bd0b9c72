import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../gateway/errors.ts';

/** What `listen` remembers between two runs: a small file that is replaced as a whole. */
export interface Stored {
  readonly path: string;
  /** @returns null where there is none yet. @throws GatewayError BAD_USER_INPUT if it cannot be read */
  readonly read: () => Promise<string | null>;
  /**
   * Settles when the text is durable: after a kill there is the old text or the new one.
   * @throws GatewayError BAD_USER_INPUT if it cannot be written
   */
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
        throw unusable(folder, error);
      }
    },
    write: async (text) => {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await replaceFile(path, text);
      } catch (error) {
        throw unusable(folder, error);
      }
    },
  };
}

async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}

function unusable(folder: string, cause: unknown): GatewayError {
  const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  const message = `${folder} cannot be read and written${reason}. Set XDG_STATE_HOME to a folder of yours with room.`;
  return new GatewayError('BAD_USER_INPUT', message, { cause });
}

/** A name for a file that belongs to these words and to no others. */
export function nameFor(...words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}

export function generateSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}
