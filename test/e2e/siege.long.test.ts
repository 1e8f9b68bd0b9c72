import { expect, test } from 'vitest';
import { attacks } from '../siege/attacks.ts';
import { findBrokenAnywhere } from '../siege/bounds.ts';
import { runRound } from '../siege/round.ts';
import { holdMany } from '../siege/siege.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

test.each(Object.keys(attacks))(
  'under %s memory is bounded, everybody else is answered, and SIGTERM ends the gateway',
  async (name) => {
    const report = await runRound({ name, quietMs: 500, attackMs: 3000 });
    expect({ report, broken: findBrokenAnywhere(report) }).toMatchObject({ broken: [] });
    // An attack that does nothing proves nothing.
    expect(Object.values(report.attack).some((count) => count > 0)).toBe(true);
  },
);

test('1,000 slow connections are closed, and a normal query is answered all the while', async () => {
  using folder = makeFolder();
  const token = 'a-gateway-key-of-the-siege';
  const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
  const env = { PORT: '0', GATEWAY_API_KEYS: token, WEBHOOK_SECRETS: webhookSecret, LOG_LEVEL: 'error' };
  const gateway = await startGatewayProcess(folder.path, env);
  const held = await holdMany({ url: gateway.url, token, webhookSecret }, { count: 1000, timeoutMs: 25_000 });
  expect(held).toMatchObject({ opened: 1000, closedByGateway: 1000 });
  expect(held.answers).toBeGreaterThan(5);
  await gateway.end('SIGTERM');
});
