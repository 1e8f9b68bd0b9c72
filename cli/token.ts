import type { Command, Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { explain } from './forwarding.ts';
import { reach, reachOptions } from './reach.ts';

const createDocument = `mutation ($input: CreateViewerTokenInput!) {
  createViewerToken(input: $input) { token jti expiresAt }
}`;
const revokeDocument = `mutation ($input: RevokeViewerTokensInput!) {
  revokeViewerTokens(input: $input) { revokedAt }
}`;

/** Creates and revokes tokens of viewers, as a server of the team does. */
export const token: Command<null> = {
  usage:
    '<create | revoke> [--user <id>] [--order <id>]... [--scope <scope>]... [--origin <origin>]... [--ttl <seconds>] [--jti <id>]',
  summary:
    "create: prints a token for a user's browser; revoke: ends the token with this --jti, or all of this --user",
  options: {
    ...reachOptions,
    user: { type: 'string' },
    order: { type: 'string', multiple: true },
    scope: { type: 'string', multiple: true },
    origin: { type: 'string', multiple: true },
    ttl: { type: 'string' },
    jti: { type: 'string' },
  },
  examples: [
    'create --user 0b2c7f5e-3d8a-4f6e-9a41-7c1f0d2e5b68 --scope read:orders --ttl 300',
    'revoke --jti 8d1e2a44-6c0f-4a6b-b1c3-0f5e9d7a2c11',
    'revoke --user 0b2c7f5e-3d8a-4f6e-9a41-7c1f0d2e5b68',
  ],
  run: async (session) => {
    const [action, ...more] = session.words;
    if ((action !== 'create' && action !== 'revoke') || more.length > 0)
      throw new GatewayError('BAD_USER_INPUT', 'Call token create or token revoke.');
    try {
      return await (action === 'create' ? create(session) : revoke(session));
    } catch (error) {
      return explain(session, error);
    }
  },
};

async function create(session: Session<null>): Promise<true> {
  const { user: userId, order: orderIds, scope: scopes, origin: origins, ttl } = session.options;
  if (userId === undefined) throw new GatewayError('BAD_USER_INPUT', '--user names the user.');
  const ttlSeconds = ttl === undefined ? undefined : Number(ttl);
  if (ttlSeconds !== undefined && !Number.isInteger(ttlSeconds))
    throw new GatewayError('BAD_USER_INPUT', '--ttl takes a whole number of seconds.');
  const input = { userId, orderIds, scopes, origins, ttlSeconds };
  const { client } = await reach(session);
  const { createViewerToken } = await client.mutate<{ readonly createViewerToken: object }>(createDocument, {
    input,
  });
  await session.print({ ...createViewerToken });
  return true;
}

async function revoke(session: Session<null>): Promise<true> {
  const { user: userId, jti } = session.options;
  if ((userId === undefined) === (jti === undefined))
    throw new GatewayError('BAD_USER_INPUT', 'Give --jti or --user.');
  const { client } = await reach(session);
  const { revokeViewerTokens } = await client.mutate<{ readonly revokeViewerTokens: object }>(
    revokeDocument,
    { input: { userId, jti } },
  );
  await session.print({ ...revokeViewerTokens });
  return true;
}
