import type { ParseArgsOptionsConfig } from 'node:util';
import type { Config } from '../config.ts';
import type { EventStore } from '../events/open.ts';

/** One of the things that `npm run events -- <name>` does. */
export interface Command {
  /** How it is called, behind its name. */
  readonly usage: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** @returns whether all is well: the exit code 0, else 1 */
  readonly run: (session: Session) => Promise<boolean>;
}

/** What a command works with. */
export interface Session {
  readonly store: EventStore;
  readonly config: Config;
  readonly options: Readonly<Record<string, unknown>>;
  /** What stands behind the name of the command. */
  readonly words: readonly string[];
  /** One line of JSON on standard output; waits for a reader that is slow. */
  readonly print: (line: Readonly<Record<string, unknown>>) => Promise<void>;
  /** A sentence for a person, on standard error. */
  readonly say: (sentence: string) => void;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
}

/**
 * A position as somebody typed it.
 * @returns null for anything but a whole number
 */
export function readPosition(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
