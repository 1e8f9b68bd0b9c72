import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Argument } from './client.ts';
import { keyPrefix, redisNumber, redisText } from './codec.ts';
import { isAnswer, type RedisConnection } from './connection.ts';
import type { Durability } from './durability.ts';

/** A Lua script. The server runs it atomically. */
export interface Script {
  readonly text: string;
  readonly hash: string;
}

const common = readFileSync(new URL('./scripts/common.lua', import.meta.url), 'utf8');

/** The script of this name in `scripts/`, after `common.lua`. */
export function readScript(name: string): Script {
  const text = `${common}\n${readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')}`;
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

const openScript = readScript('open');
/** How the epoch of a log begins that lost its newest events (`common.lua`). */
const cutPrefix = 'cut-';
const openedShape = z.tuple([redisNumber, redisText]);
const answerShape = z.tuple([redisText], z.unknown());

export interface ScriptAnswer {
  readonly values: readonly unknown[];
  /** Whether the log is the one that was known when the script was sent, so that its positions are still valid. */
  readonly isSameLog: boolean;
}

interface ScriptRunnerParts {
  readonly reads: RedisConnection;
  readonly writes: RedisConnection;
  readonly durability: Durability;
  /** The key of cursors for a log that has none yet; empty where it is not stored in the server. */
  readonly ownKey: string;
  /** A position that was in the log: a server without it has lost the end of the log. */
  readonly knownPosition: () => number;
  /** Called when the server came back without the log, or without its end: the log has earlier events then. */
  readonly onOtherLog: (hasHistory: boolean) => void;
}

/** Runs the log's scripts, and notices another log by its epoch: a server that came back empty has a new one. */
export class ScriptRunner {
  readonly #parts: ScriptRunnerParts;
  #epoch = '';
  /** As the server had it. Every gateway puts it back where the server lost it. */
  #cursorKey: string;

  constructor(parts: ScriptRunnerParts) {
    this.#parts = parts;
    this.#cursorKey = parts.ownKey;
  }

  get epoch(): string {
    return this.#epoch;
  }

  /** The end of the log. Makes the log where there is none. */
  async open(): Promise<{ readonly end: number; readonly cursorKey: Buffer | null }> {
    const [end, key] = openedShape.parse((await this.read(openScript, [this.#cursorKey])).values);
    if (this.#parts.ownKey !== '') this.#cursorKey = key;
    return { end, cursorKey: key === '' ? null : Buffer.from(key, 'base64') };
  }

  async end(): Promise<number> {
    return (await this.open()).end;
  }

  /** Runs a script whose effects may be lost. */
  read(script: Script, args: readonly Argument[]): Promise<ScriptAnswer> {
    return this.#run(this.#parts.reads, script, args);
  }

  /** Runs a script and resolves when its effects are durable. */
  async write(script: Script, args: readonly Argument[]): Promise<readonly unknown[]> {
    const { writes, durability } = this.#parts;
    return (await durability.write(() => this.#run(writes, script, args))).values;
  }

  async #run(connection: RedisConnection, script: Script, args: readonly Argument[]): Promise<ScriptAnswer> {
    const known = this.#epoch;
    const answer = await sendScript(connection, script, [
      keyPrefix,
      `${randomUUID()} ${this.#parts.knownPosition()}`,
      ...args,
    ]);
    const [epoch, ...values] = answerShape.parse(answer);
    const isOther = this.#epoch !== '' && epoch !== this.#epoch;
    this.#epoch = epoch;
    if (isOther) this.#parts.onOtherLog(epoch.startsWith(cutPrefix));
    return { values, isSameLog: epoch === known };
  }
}

/** Sends the script's hash, and its text only where the server does not know it (yet, or since a restart). */
async function sendScript(
  connection: RedisConnection,
  { text, hash }: Script,
  args: readonly Argument[],
): Promise<unknown> {
  try {
    return await connection.send(['EVALSHA', hash, '1', ...args]);
  } catch (error) {
    if (!isAnswer(error, 'NOSCRIPT')) throw error;
    return await connection.send(['EVAL', text, '1', ...args]);
  }
}
