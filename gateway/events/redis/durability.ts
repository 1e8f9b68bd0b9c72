import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { keyPrefix, redisText } from './codec.ts';
import { isAnswer, oncePerTurn, type RedisConnection } from './connection.ts';

/** The settings that a server needs, or it may lose what it acknowledged. */
const wanted = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
} as const;

/** How long a check of the settings is valid, in milliseconds. */
const checkEveryMs = 60_000;
/** How long a replica may take to confirm, in milliseconds. */
const waitMs = 1000;

export interface DurabilityOptions {
  /** Host and port, for messages. */
  readonly serverName: string;
  /** The replicas that confirm each write, whether or not the server has any. 0: one replica, where there is one. */
  readonly replicas: number;
  /** Called when replicas did not confirm: the server may not be the primary any more. */
  readonly onUnconfirmed: () => void;
  /** Accepts a server that may lose what it acknowledged. */
  readonly allowWeak: boolean;
  /** Called when the server is found weak, once until it is strong again. */
  readonly onWeak: (reason: string) => void;
}

/** Makes sure that a write survives a crash of the server, and the loss of the server where it has a replica. */
export class Durability {
  readonly #connection: RedisConnection;
  readonly #options: DurabilityOptions;
  #needed: number;
  #checked: { readonly session: number; readonly at: number; readonly isWeak: boolean };
  /** The last check. Every write waits for it; otherwise a later write could overtake those that wait already. */
  #check: Promise<void> = Promise.resolve();
  #isChecking = false;
  readonly #confirm = oncePerTurn(() => this.#waitForReplicas());

  /** @param connection the one for all writes: WAIT covers only the writes of its connection */
  constructor(connection: RedisConnection, options: DurabilityOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#needed = options.replicas;
    this.#checked = { session: connection.session, at: Date.now(), isWeak: false };
  }

  /**
   * Checks the server's settings for the first time, and counts its replicas.
   * @throws GatewayError EVENT_LOG_WEAK unless a weak server is allowed
   */
  async open(): Promise<void> {
    const { allowWeak, onWeak, serverName } = this.#options;
    const weakness = await findWeakness(this.#connection, serverName);
    if (weakness !== null && !allowWeak) {
      throw new GatewayError('EVENT_LOG_WEAK', `${weakness} Or accept the risk with ALLOW_WEAK_REDIS=1.`);
    }
    if (weakness !== null) onWeak(weakness);
    this.#checked = { session: this.#connection.session, at: Date.now(), isWeak: false };
    await this.countReplicas();
  }

  /**
   * Does a write and resolves with its answer when it is durable, also on a replica where there is one.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when no replica confirms in time, or the server is weak; the write may be
   *   stored nevertheless
   */
  async write<T>(work: () => Promise<T>): Promise<T> {
    await this.#requireStrong();
    const { session } = this.#connection;
    const result = await work();
    if (this.#needed > 0) await this.#confirm();
    // Another connection may lead to another server, which does not have the write.
    if (this.#needed > 0 && this.#connection.session !== session) throw unconfirmed();
    return result;
  }

  /** Asks even when the number is configured, because a connection without traffic would be considered dead. */
  async countReplicas(): Promise<void> {
    const text = redisText.parse(await this.#connection.send(['INFO', 'replication']));
    const connected = Number(/^connected_slaves:(\d+)/m.exec(text)?.[1] ?? 0);
    this.#needed = this.#options.replicas || Math.min(1, connected);
  }

  /**
   * Checks the settings again with a new connection, which may lead to another server, once a minute, because anybody may
   * change them, and each time while the server is weak.
   */
  async #requireStrong(): Promise<void> {
    if (this.#options.allowWeak) return;
    const { session, at, isWeak } = this.#checked;
    const isFresh = session === this.#connection.session && Date.now() - at < checkEveryMs;
    if (!this.#isChecking && (!isFresh || isWeak)) this.#check = this.#checkAgain();
    await this.#check;
    if (this.#checked.isWeak) {
      throw new GatewayError(
        'EVENT_LOG_UNAVAILABLE',
        'Redis may lose what it acknowledges as it is set now.',
      );
    }
  }

  async #checkAgain(): Promise<void> {
    this.#isChecking = true;
    try {
      const [session, at] = [this.#connection.session, Date.now()];
      const reason = await findWeakness(this.#connection, this.#options.serverName);
      if (reason !== null && !this.#checked.isWeak) this.#options.onWeak(reason);
      this.#checked = { session, at, isWeak: reason !== null };
    } finally {
      this.#isChecking = false;
    }
  }

  /**
   * A write comes before WAIT, so that WAIT covers everything before it. That includes writes of an earlier connection: a
   * repeated message must not be acknowledged before the replica has its original.
   */
  async #waitForReplicas(): Promise<void> {
    const fence = this.#connection.send(['SET', `${keyPrefix}fence`, '1']);
    const wait = this.#connection.send(['WAIT', String(this.#needed), String(waitMs)]);
    const [, confirmed] = await Promise.all([fence, wait]);
    if (z.number().parse(confirmed) >= this.#needed) return;
    this.#options.onUnconfirmed();
    throw unconfirmed();
  }
}

function unconfirmed(): GatewayError {
  return new GatewayError(
    'EVENT_LOG_UNAVAILABLE',
    'Too few replicas of the event log have confirmed the write.',
  );
}

/** Why a server may lose what it acknowledged; null when it may not. */
async function findWeakness(connection: RedisConnection, serverName: string): Promise<string | null> {
  const commands = await findMissingSettings(connection);
  if (commands?.length === 0) return null;
  const settings = Object.entries(wanted).map(([name, value]) => `${name} ${value}`);
  return commands === null
    ? `Redis at ${serverName} does not show its settings (CONFIG GET). It must have ${settings.join(', ')}.`
    : `Redis at ${serverName} may lose what it has acknowledged. Mend it: ${commands.join('; ')}.`;
}

const pairShape = z.tuple([redisText, redisText]);

/** The commands that mend the settings; null when the server does not show them (a managed one may refuse CONFIG). */
async function findMissingSettings(connection: RedisConnection): Promise<readonly string[] | null> {
  const commands: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const answer = await connection.send(['CONFIG', 'GET', name]).catch(nullIfRefused);
    const pair = pairShape.safeParse(answer);
    if (!pair.success) return null;
    if (pair.data[1] !== value) commands.push(`CONFIG SET ${name} ${value}`);
  }
  return commands;
}

/** Any answer of the server counts: only a server that does not answer must not pass for weak. */
function nullIfRefused(error: unknown): null {
  if (isAnswer(error)) return null;
  throw error;
}
