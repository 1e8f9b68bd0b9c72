import { defaultScopes, type Rights, scopes } from '../../auth/rights.ts';
import { GatewayError } from '../../errors.ts';
import { readUuid, readUuids } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { needs } from '../../graph/permissions.ts';
import { isOrigin } from '../../parse/origin.ts';

const maxTtlSeconds = 900;

const viewerKind = builder.enumType('ViewerKind', {
  description: 'What kind of caller asks.',
  values: {
    TEAM: { description: 'A server of the team, with a gateway key.' },
    USER: { description: "One user's browser, with a viewer token." },
  } as const,
});

export const viewerRef = builder.objectRef<Rights>('Viewer').implement({
  description: 'Who the caller is and what it may do.',
  fields: (t) => ({
    kind: t.field({
      type: viewerKind,
      nullable: false,
      description: 'What kind of caller it is.',
      resolve: (rights) => (rights.has('gateway-key') ? 'TEAM' : 'USER'),
    }),
    userId: t.id({
      description: 'Id of the user whose data it sees; null for servers of the team.',
      resolve: (rights) => rights.userId,
    }),
    teamId: t.id({
      description: 'Id of the team, once the service has named it.',
      resolve: (_rights, _args, context) => context.teamId(),
    }),
    scopes: t.field({
      type: ['Scope'],
      nullable: false,
      description: 'What it may do, such as read:orders.',
      resolve: (rights) => rights.scopes,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When its token ends; null for servers of the team.',
      resolve: (_rights, _args, { caller }) => (caller.kind === 'USER' ? caller.expiresAt : null),
    }),
  }),
});

const viewerTokenRef = builder
  .objectRef<{ readonly token: string; readonly jti: string; readonly expiresAt: Date }>('ViewerToken')
  .implement({
    description: "A short-lived token for one user's browser.",
    fields: (t) => ({
      token: t.exposeString('token', {
        nullable: false,
        description: 'Send it as `Authorization: Bearer <token>`.',
      }),
      jti: t.exposeID('jti', {
        nullable: false,
        description: 'Its own id, with which `revokeViewerTokens` revokes it.',
      }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: false, description: 'When it ends.' }),
    }),
  });

const createViewerTokenInput = builder.inputType('CreateViewerTokenInput', {
  description: 'What a viewer token allows.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user whose browser gets it (uuid).' }),
    orderIds: t.idList({
      description:
        'Only these orders of the user (uuid); all when left out. A token for some orders shows nothing else of the user but ids: other fields of User are null, lists of sources are empty, and profile, health data and lab reports are refused. The portal still shows everything of the user: leave out launch:portal to prevent that.',
    }),
    scopes: t.stringList({
      description: `What it may do: any values of the scalar Scope, as texts. Left out: ${defaultScopes.join(' and ')}.`,
    }),
    ttlSeconds: t.int({
      defaultValue: 600,
      description: `How long it lives: 1 to ${maxTtlSeconds} seconds.`,
    }),
    origins: t.stringList({ description: 'The only browser origins it works from; any when left out.' }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: viewerRef,
    nullable: false,
    complexity: 1,
    description: 'The caller: who it is, its rights, and when its token ends.',
    resolve: (_root, _args, { service }) => service.rights,
  }),
);

builder.mutationField('createViewerToken', (t) =>
  t.field({
    type: viewerTokenRef,
    complexity: 1,
    extensions: needs('gateway-key'),
    description: "Creates a viewer token for one user's browser.",
    args: {
      input: t.arg({ type: createViewerTokenInput, required: true, description: 'What it allows.' }),
    },
    resolve: (_root, { input }, context) => {
      // A viewer must not extend its own rights with a new token.
      return context.mintViewerToken({
        userId: readUuid('input.userId', input.userId),
        orderIds: readUuids('input.orderIds', input.orderIds),
        scopes: readScopes(input.scopes),
        ttlSeconds: readTtl(input.ttlSeconds),
        origins: readOrigins(input.origins),
      });
    },
  }),
);

function readScopes(given: readonly string[] | null | undefined): readonly string[] {
  if (given === null || given === undefined) return defaultScopes;
  const isKnown = given.every((scope) => scopes.some((known) => known === scope));
  if (!isKnown) throw new GatewayError('BAD_USER_INPUT', `input.scopes must be of ${scopes.join(', ')}.`);
  return [...new Set(given)];
}

function readOrigins(given: readonly string[] | null | undefined): readonly string[] | null {
  if (given === null || given === undefined) return null;
  if (!given.every(isOrigin))
    throw new GatewayError('BAD_USER_INPUT', 'input.origins must be exact, such as https://app.example.com.');
  return given;
}

function readTtl(given: number | null | undefined): number {
  const seconds = given ?? 600;
  if (seconds >= 1 && seconds <= maxTtlSeconds) return seconds;
  throw new GatewayError('BAD_USER_INPUT', `input.ttlSeconds must be from 1 to ${maxTtlSeconds}.`);
}

const maxJtiLength = 256;

const revokeViewerTokensInput = builder.inputType('RevokeViewerTokensInput', {
  description: 'Which viewer tokens to revoke: give one of the two, or both.',
  fields: (t) => ({
    userId: t.id({ description: 'All tokens of this user (uuid) that were made until now.' }),
    jti: t.id({
      description: 'The token with this id: `ViewerToken.jti`, or the claim `jti` of the token.',
    }),
  }),
});

const viewerTokensRevokedRef = builder
  .objectRef<{ readonly revokedAt: Date }>('ViewerTokensRevoked')
  .implement({
    description: 'The tokens are revoked at every gateway over this event log.',
    fields: (t) => ({
      revokedAt: t.expose('revokedAt', {
        type: 'DateTime',
        nullable: false,
        description: 'When they were revoked; a token that is created later works.',
      }),
    }),
  });

builder.mutationField('revokeViewerTokens', (t) =>
  t.field({
    type: viewerTokensRevokedRef,
    complexity: 1,
    extensions: needs('gateway-key'),
    description:
      'Revokes viewer tokens, also those of an identity provider. Sockets and streams that use them end.',
    args: {
      input: t.arg({ type: revokeViewerTokensInput, required: true, description: 'Which tokens.' }),
    },
    resolve: async (_root, { input }, context) => {
      const { userId, jti } = input;
      if (!userId && !jti) throw new GatewayError('BAD_USER_INPUT', 'input.userId or input.jti is needed.');
      const revokedAt = await context.revokeViewerTokens({
        userId: userId ? readUuid('input.userId', userId) : null,
        tokenId: jti ? readJti(String(jti)) : null,
      });
      return { revokedAt };
    },
  }),
);

function readJti(jti: string): string {
  if (jti.length <= maxJtiLength) return jti;
  throw new GatewayError('BAD_USER_INPUT', `input.jti has at most ${maxJtiLength} characters.`);
}
