import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import type { Argument } from './client.ts';
import { keyPrefix, redisNumber, redisText } from './codec.ts';
import type { RedisConnection } from './connection.ts';
import type { Durability } from './durability.ts';
import { readScript, type Script } from './scripts.ts';

const openScript = readScript('open');
/** Prefix of the epoch of a log that lost its newest events (`common.lua`). */
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
    const place = `${randomUUID()} ${this.#parts.knownPosition()}`;
    const answer = await connection.send(['EVALSHA', script.hash, '1', keyPrefix, place, ...args]);
    const [epoch, ...values] = answerShape.parse(answer);
    // An old primary that goes on lacks what the new one has, and would be taken for a log that was cut.
    if (this.#isOther(epoch) && !(await connection.follow())) {
      throw new GatewayError(
        'EVENT_LOG_UNAVAILABLE',
        'The event log in Redis may be at another server by now.',
      );
    }
    const isOther = this.#isOther(epoch);
    this.#epoch = epoch;
    if (isOther) this.#parts.onOtherLog(epoch.startsWith(cutPrefix));
    return { values, isSameLog: epoch === known };
  }

  #isOther(epoch: string): boolean {
    return this.#epoch !== '' && epoch !== this.#epoch;
  }
}
