import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { redisText } from './codec.ts';
import { type Connection, isAnswer, oncePerTurn } from './connection.ts';

/** What a server must be set to, or it may lose what was acknowledged. */
const wanted = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
} as const;

/** How long a look at the settings of a server holds, in milliseconds. */
const lookEveryMs = 60_000;

const pairShape = z.tuple([redisText, redisText]);

/**
 * The settings of a server that endanger what is acknowledged, as the commands that mend them; null when the
 * server does not say (a managed one may refuse CONFIG).
 */
async function findWeakSettings(connection: Connection): Promise<readonly string[] | null> {
  const commands: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const answer = await connection.send(['CONFIG', 'GET', name]).catch(nullWhereRefused);
    const pair = pairShape.safeParse(answer);
    if (!pair.success) return null;
    if (pair.data[1] !== value) commands.push(`CONFIG SET ${name} ${value}`);
  }
  return commands;
}

/** Any answer of the server is one: only one that says nothing must not pass for weak. */
function nullWhereRefused(error: unknown): null {
  if (isAnswer(error, '')) return null;
  throw error;
}

/**
 * Why a server may lose what it acknowledges, null when it may not.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE
 */
async function findWeakness(connection: Connection, serverName: string): Promise<string | null> {
  const commands = await findWeakSettings(connection);
  if (commands?.length === 0) return null;
  return commands === null
    ? `Redis at ${serverName} does not show its settings (CONFIG GET). It must have ${describeWanted()}.`
    : `Redis at ${serverName} may lose what it has acknowledged. Mend it: ${commands.join('; ')}.`;
}

export interface SettingsOptions {
  /** Host and port, for messages. */
  readonly serverName: string;
  readonly allowWeak: boolean;
  /** Told when the server is found weak, once until it is strong again. */
  readonly onWeak: (reason: string) => void;
}

/**
 * Refuses a server that would not keep what it acknowledges, now and later: another server may answer behind the
 * next connection, and anybody may set this one otherwise.
 * @returns to be awaited before each write; looks again with a new connection, once a minute, and each time while the
 *   server is weak. Rejects with EVENT_LOG_UNAVAILABLE then
 * @throws GatewayError EVENT_LOG_WEAK unless a weak server is allowed
 */
export async function requireSettings(
  connection: Connection,
  { serverName, allowWeak, onWeak }: SettingsOptions,
): Promise<() => Promise<void>> {
  const weakness = await findWeakness(connection, serverName);
  if (allowWeak) {
    if (weakness !== null) onWeak(weakness);
    return async () => {};
  }
  if (weakness !== null) {
    throw new GatewayError('EVENT_LOG_WEAK', `${weakness} Or accept the risk with ALLOW_WEAK_REDIS=1.`);
  }
  return createRecheck(connection, () => findWeakness(connection, serverName), onWeak);
}

function createRecheck(
  connection: Connection,
  look: () => Promise<string | null>,
  onWeak: (reason: string) => void,
): () => Promise<void> {
  let seen = { session: connection.session(), at: Date.now(), isWeak: false };
  const lookAgain = oncePerTurn(async () => {
    const [session, at] = [connection.session(), Date.now()];
    const reason = await look();
    if (reason !== null && !seen.isWeak) onWeak(reason);
    seen = { session, at, isWeak: reason !== null };
  });
  return async () => {
    const isFresh = seen.session === connection.session() && Date.now() - seen.at < lookEveryMs;
    if (!isFresh || seen.isWeak) await lookAgain();
    if (seen.isWeak) {
      throw new GatewayError(
        'EVENT_LOG_UNAVAILABLE',
        'Redis may lose what it acknowledges as it is set now.',
      );
    }
  };
}

function describeWanted(): string {
  return Object.entries(wanted)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
