import { expect, test } from 'vitest';
import { starveWebhooks } from '../siege/webhook-starvation.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const webhookSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

test('a flood of unsigned and forged bodies that never end turns no genuine webhook away', async () => {
  using folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    WEBHOOK_SECRETS: webhookSecret,
    LOG_LEVEL: 'error',
  });
  try {
    const { hostile, genuine } = await starveWebhooks(
      { url: gateway.url, webhookSecret, connections: 200, genuine: 30 },
      AbortSignal.timeout(50_000),
    );
    expect(genuine).toEqual({
      sent: 30,
      acknowledged: 30,
      turnedAway: 0,
      other: [],
      slowestMs: expect.any(Number),
    });
    expect(hostile.opened).toBeGreaterThanOrEqual(200);
  } finally {
    await gateway.end('SIGTERM');
  }
});
