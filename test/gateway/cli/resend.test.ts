import { expect, test, vi } from 'vitest';
import { callLabgraph } from '../../support/commands.ts';
import { gatewayKey, startLab } from '../../support/lab.ts';
import { startListening } from './listening.ts';

test('an event that listen has forwarded is posted again under its id, found by the `after` that was printed', async () => {
  await using listening = await startListening();
  const { env, target, lines, secretFile } = listening;
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 150_000 });
  const [line] = lines;
  const given = ['--forward-to', target.url, '--events', 'moon.phase.created', '--secret-file', secretFile];

  const again = await callLabgraph(env, 'resend', String(line?.after), ...given);

  expect(again).toMatchObject({ code: 0, said: 'Connected.\n' });
  expect(again.lines()).toEqual([
    { type: 'moon.phase.created', id: line?.id, after: line?.after, status: 200 },
  ]);
  expect(target.received.map(({ id }) => id)).toEqual([line?.id, line?.id]);
  expect(target.received[1]?.event).toEqual(target.received[0]?.event);
  // One cursor of 64 begins with a hyphen, and one of 4,096 with two.
  for (const word of ['nonsense', `-${'A'.repeat(80)}`, `--${'A'.repeat(80)}`]) {
    const forged = await callLabgraph(env, 'resend', word, ...given);
    expect(forged).toMatchObject({ code: 1, text: '', said: expect.stringContaining('BAD_CURSOR') });
  }
});

test('a gateway that does not answer is named as the fault, and not the cursor', async () => {
  const env = { LABGRAPH_URL: 'http://127.0.0.1:9', LABGRAPH_KEY: gatewayKey };
  const failed = await callLabgraph(env, 'resend', 'a-cursor', '--forward-to', 'http://127.0.0.1:9/');
  expect(failed).toMatchObject({ code: 1, text: '' });
  expect(failed.said.trimEnd().split('\n').at(-1)).toBe('The gateway does not answer.');
});

test('what is no id of an order needs an address to be posted to', async () => {
  const wrong = await callLabgraph({ LABGRAPH_KEY: gatewayKey }, 'resend', 'order-7');
  expect(wrong).toMatchObject({ code: 2, said: expect.stringContaining('This is no id of an order.') });
});

test.each([
  [
    'token revoke --jti x',
    'The gateway does not answer at http://127.0.0.1:9/graphql. Check LABGRAPH_URL or --url.',
  ],
  [
    'trigger a.b',
    'The sandbox does not answer at http://127.0.0.1:9/. Check LABGRAPH_SANDBOX_URL or --sandbox.',
  ],
])('where nothing answers, %s says where it asked', async (command, sentence) => {
  const addresses = { LABGRAPH_URL: 'http://127.0.0.1:9', LABGRAPH_SANDBOX_URL: 'http://127.0.0.1:9' };
  const env = { ...addresses, LABGRAPH_KEY: gatewayKey, SANDBOX_API_KEY: 'key' };
  expect(await callLabgraph(env, ...command.split(' '))).toMatchObject({ code: 1, said: `${sentence}\n` });
});

test("an order's last event comes to the gateway again; an unknown order is a fault", async () => {
  await using lab = await startLab();
  const env = { LABGRAPH_URL: lab.url, LABGRAPH_KEY: gatewayKey };
  const { data } = await lab.query('{ orders(first: 1) { nodes { id } } }');
  const orderId = data.orders.nodes[0].id;

  const sent = await callLabgraph(env, 'resend', orderId);
  await lab.sandbox.webhooks.settled();

  expect(sent).toMatchObject({ code: 0, said: '' });
  expect(sent.lines()).toEqual([{ orderIds: [orderId] }]);
  expect(lab.sandbox.webhooks.sent.map(({ outcome }) => outcome)).toEqual(['delivered']);
  const unknown = await callLabgraph(env, 'resend', crypto.randomUUID());
  expect(unknown).toMatchObject({ code: 1, text: '' });
  expect(unknown.said).not.toBe('');
});

test('a token that was created works with its scopes, and no longer when it is revoked', async () => {
  await using lab = await startLab();
  const env = { LABGRAPH_URL: lab.url, LABGRAPH_KEY: gatewayKey };
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const viewer = async (token: unknown) =>
    (await lab.query('{ viewer { userId scopes } }', { token: String(token) })).data?.viewer ?? null;

  const created = await callLabgraph(
    env,
    'token',
    'create',
    '--user',
    userId,
    '--scope',
    'read:orders',
    '--ttl',
    '300',
  );
  const [{ token, jti } = {}] = created.lines();
  expect(created).toMatchObject({ code: 0, said: '' });
  expect(await viewer(token)).toEqual({ userId, scopes: ['read:orders'] });

  const revoked = await callLabgraph(env, 'token', 'revoke', '--jti', String(jti));
  expect(revoked.lines()).toEqual([{ revokedAt: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  expect(await viewer(token)).toBeNull();

  const wrong = [
    await callLabgraph(env, 'token', 'create'),
    await callLabgraph(env, 'token', 'revoke'),
    await callLabgraph(env, 'token', 'nonsense'),
  ];
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
});
