import { describe, expect, test } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';

/** Dispatches the event of a policy that blocked a connection. */
function dispatchViolation(blockedURI: string, disposition: 'enforce' | 'report'): void {
  const effectiveDirective = 'connect-src';
  document.dispatchEvent(
    new SecurityPolicyViolationEvent('securitypolicyviolation', {
      effectiveDirective,
      violatedDirective: effectiveDirective,
      blockedURI,
      disposition,
      documentURI: location.href,
      originalPolicy: '',
      statusCode: 200,
    }),
  );
}

describe('diagnose()', () => {
  test.each([
    ['another connection of the page', 'https://analytics.test/collect', 'enforce'],
    ['a connection that has no address', 'blob', 'enforce'],
    ['a policy that only reports', 'gateway', 'report'],
  ] as const)('does not blame %s for a token that is refused', async (_what, blocked, disposition) => {
    using gateway = new FakeGateway();
    gateway.refusedTokens.add('token');
    const found = mountLaunch(gateway).diagnose();

    dispatchViolation(blocked === 'gateway' ? gateway.endpoint : blocked, disposition);

    expect(await found).toEqual({ code: 'UNAUTHENTICATED', mend: 'tokenProvider' });
  });

  test('names a policy that blocks the token request of the page, from any source', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway, {
      tokenProvider: () => {
        dispatchViolation('https://app.test/portal-token', 'enforce');
        throw new TypeError('Failed to fetch');
      },
    });

    expect(await element.diagnose()).toEqual({ code: 'CSP_BLOCKED', mend: 'connect-src https://app.test' });
  });
});
