import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import type { Connection } from './connection.ts';
import { redisText } from './message.ts';

/** What a server must be set to, or it may lose what was acknowledged. */
const wanted = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
} as const;

const pairShape = z.tuple([redisText, redisText]);

/**
 * The settings of a server that endanger what is acknowledged, as the commands that mend them; null when the
 * server does not say (a managed one may refuse CONFIG).
 */
async function findWeakSettings(connection: Connection): Promise<readonly string[] | null> {
  const commands: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const pair = pairShape.safeParse(await connection.send(['CONFIG', 'GET', name]).catch(() => null));
    if (!pair.success) return null;
    if (pair.data[1] !== value) commands.push(`CONFIG SET ${name} ${value}`);
  }
  return commands;
}

/**
 * Refuses a server that would not keep what it acknowledges.
 * @param serverName host and port, for the message
 * @returns why it is weak, null when it is not
 * @throws GatewayError EVENT_LOG_WEAK unless a weak server is allowed
 */
export async function checkSettings(
  connection: Connection,
  { serverName, allowWeak }: { readonly serverName: string; readonly allowWeak: boolean },
): Promise<string | null> {
  const commands = await findWeakSettings(connection);
  if (commands?.length === 0) return null;
  const reason =
    commands === null
      ? `Redis at ${serverName} does not show its settings (CONFIG GET). It must have ${describeWanted()}.`
      : `Redis at ${serverName} may lose what it has acknowledged. Mend it: ${commands.join('; ')}.`;
  if (allowWeak) return reason;
  throw new GatewayError('EVENT_LOG_WEAK', `${reason} Or accept the risk with ALLOW_WEAK_REDIS=1.`);
}

function describeWanted(): string {
  return Object.entries(wanted)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
