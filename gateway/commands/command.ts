import type { ParseArgsOptionsConfig } from 'node:util';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';

/** One of the things that a program such as `npm run events -- <name>` does with its store. */
export interface Command<Store> {
  /** How it is called, behind its name. */
  readonly usage: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** @returns whether all is well: the exit code 0, else 1 */
  readonly run: (session: Session<Store>) => Promise<boolean>;
}

/** What a command works with. */
export interface Session<Store> {
  readonly store: Store;
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

/** @throws GatewayError BAD_USER_INPUT in place of a fault of the file system, which would print the path and nothing else */
export async function orUnreadable<Result>(name: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', `${name} names nothing that can be read.`, { cause });
  }
}
