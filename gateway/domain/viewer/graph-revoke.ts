import { GatewayError } from '../../errors.ts';
import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';

const maxJtiLength = 256;

const revokeViewerTokensInput = builder.inputType('RevokeViewerTokensInput', {
  description: 'Which viewer tokens to take back: give one of the two, or both.',
  fields: (t) => ({
    userId: t.id({ description: 'All tokens of this user (uuid) that were made until now.' }),
    jti: t.id({
      description: 'The one token with this id, as `ViewerToken.jti` or the `jti` of its claims says.',
    }),
  }),
});

const viewerTokensRevokedRef = builder
  .objectRef<{ readonly revokedAt: Date }>('ViewerTokensRevoked')
  .implement({
    description: 'The tokens are of no use any more, at any gateway over this event log.',
    fields: (t) => ({
      revokedAt: t.expose('revokedAt', {
        type: 'DateTime',
        nullable: false,
        description: 'Since when; a token that was made later works.',
      }),
    }),
  });

builder.mutationField('revokeViewerTokens', (t) =>
  t.field({
    type: viewerTokensRevokedRef,
    nullable: false,
    complexity: 1,
    description:
      'Takes viewer tokens back, those of an identity provider as well; sockets and streams that use them end. Only for gateway keys.',
    args: {
      input: t.arg({ type: revokeViewerTokensInput, required: true, description: 'Which tokens.' }),
    },
    resolve: async (_root, { input }, context) => {
      context.service.rights.require('gateway-key');
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
