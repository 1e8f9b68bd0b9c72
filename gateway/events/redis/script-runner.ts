import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { redisNumber, redisText } from './codec.ts';
import type { Argument, Connection } from './connection.ts';
import type { Replicas } from './replicas.ts';
import { readScript, runScript, type Script } from './script.ts';

const openScript = readScript('open');
const openedShape = z.tuple([redisNumber, redisText]);
const answerShape = z.tuple([redisText], z.unknown());

/** Runs the log's scripts, and knows which log it is: one that came back empty has another epoch. */
export interface Calls {
  readonly epoch: () => string;
  /** Where the log ends now. Makes the log where there is none. */
  readonly open: () => Promise<{ readonly end: number; readonly cursorKey: Buffer | null }>;
  /** Runs a script that nobody has to rely on later. */
  readonly ask: (script: Script, args: readonly Argument[]) => Promise<Answer>;
  /** Runs a script and resolves when what it did is durable. */
  readonly write: (script: Script, args: readonly Argument[]) => Promise<readonly unknown[]>;
}

export interface Answer {
  readonly values: readonly unknown[];
  /** Of the log that was known when the script was sent: its places mean what they meant. */
  readonly isSameLog: boolean;
}

export interface CallsOptions {
  readonly reads: Connection;
  readonly writes: Connection;
  readonly replicas: Replicas;
  /** The key of cursors for a log that has none yet; empty where it is not kept in the server. */
  readonly ownKey: string;
  /** Told when the server came back without the log. */
  readonly onOtherLog: () => void;
}

export function createCalls({ reads, writes, replicas, ownKey, onOtherLog }: CallsOptions): Calls {
  let epoch = '';
  /** As the server had it: every instance puts it back where the server lost it. */
  let cursorKey = ownKey;

  const run = async (connection: Connection, script: Script, args: readonly Argument[]): Promise<Answer> => {
    const believed = epoch;
    const [actual, ...values] = answerShape.parse(
      await runScript(connection, script, [randomUUID(), ...args]),
    );
    const isOther = epoch !== '' && actual !== epoch;
    epoch = actual;
    if (isOther) onOtherLog();
    return { values, isSameLog: actual === believed };
  };
  const ask: Calls['ask'] = (script, args) => run(reads, script, args);
  return {
    epoch: () => epoch,
    open: async () => {
      const [end, key] = openedShape.parse((await ask(openScript, [cursorKey])).values);
      if (ownKey !== '') cursorKey = key;
      return { end, cursorKey: key === '' ? null : Buffer.from(key, 'base64') };
    },
    ask,
    write: async (script, args) => (await replicas.write(() => run(writes, script, args))).values,
  };
}
