import { z } from 'zod';
import type { EarlierAttempt, IdempotencyRecords } from '../idempotency.ts';
import type { OneTimeValues } from '../log.ts';
import { messageIdDays } from '../log.ts';
import type { Seal } from '../seal.ts';
import { openRecord, rowOfIdempotencyRecord, rowOfOneTimeValue } from '../sealed-rows.ts';
import { redisNumber, redisText } from './codec.ts';
import type { ScriptRunner } from './script-runner.ts';
import { readScript } from './scripts.ts';

const lifeSeconds = String(messageIdDays * 86_400);
const scripts = {
  begin: readScript('record-begin'),
  owner: readScript('record-owner'),
  reclaim: readScript('record-reclaim'),
  settle: readScript('record-settle'),
  put: readScript('one-time-put'),
  take: readScript('one-time-take'),
};
const begunShape = z.union([
  z.tuple([redisText.pipe(z.literal('first'))]),
  z.tuple([
    redisText.pipe(z.literal('known')),
    redisText, // fingerprint
    redisNumber, // since
    z.instanceof(Buffer).nullable(), // answer
    redisNumber, // age in milliseconds
  ]),
]);
const ownerShape = z.tuple([redisText.nullable()]);
const takenShape = z.tuple([z.instanceof(Buffer).nullable()]);

/** Idempotency records beside the log in Redis; the server deletes them after 30 days. */
export class RedisIdempotencyRecords implements IdempotencyRecords {
  readonly #runner: ScriptRunner;
  readonly #seal: Seal;

  constructor(runner: ScriptRunner, seal: Seal) {
    this.#runner = runner;
    this.#seal = seal;
  }

  async begin(key: string, fingerprint: string): Promise<EarlierAttempt> {
    const args = [key, this.#seal.hashText(fingerprint), String(Date.now()), lifeSeconds];
    const begun = begunShape.parse(await this.#runner.write(scripts.begin, args));
    if (begun[0] === 'first') return { kind: 'first' };
    const [, stored, since, answer, ageMs] = begun;
    return openRecord({ fingerprint: stored, since, answer, ageMs }, { key, fingerprint }, this.#seal);
  }

  async isOfAnother(key: string, fingerprint: string): Promise<boolean> {
    const { values } = await this.#runner.read(scripts.owner, [key]);
    const [stored] = ownerShape.parse(values);
    return stored !== null && !this.#seal.isHashOfText(stored, fingerprint);
  }

  async reclaim(key: string, since: Date): Promise<boolean> {
    const args = [key, String(since.getTime()), String(Date.now())];
    const [isReclaimed] = await this.#runner.write(scripts.reclaim, args);
    return isReclaimed === 1;
  }

  async finish(key: string, answer: unknown): Promise<void> {
    const sealed = this.#seal.closeJson(answer, rowOfIdempotencyRecord(key));
    await this.#runner.write(scripts.settle, [key, sealed]);
  }

  async release(key: string): Promise<void> {
    await this.#runner.write(scripts.settle, [key, '']);
  }
}

/** One-time values beside the log in Redis; the server deletes expired ones by its own clock. */
export class RedisOneTimeValues implements OneTimeValues {
  readonly #runner: ScriptRunner;
  readonly #seal: Seal;

  constructor(runner: ScriptRunner, seal: Seal) {
    this.#runner = runner;
    this.#seal = seal;
  }

  async put(key: string, value: unknown, until: Date): Promise<void> {
    const lifeMs = until.getTime() - Date.now();
    if (lifeMs <= 0) return;
    const sealed = this.#seal.closeJson(value, rowOfOneTimeValue(key));
    await this.#runner.write(scripts.put, [key, sealed, String(lifeMs)]);
  }

  async take(key: string): Promise<unknown> {
    const [sealed] = takenShape.parse(await this.#runner.write(scripts.take, [key]));
    return sealed === null ? null : this.#seal.openJson(sealed, rowOfOneTimeValue(key));
  }
}
