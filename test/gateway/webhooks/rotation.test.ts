import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { SealedMarks } from '../../../gateway/events/sealed-marks.ts';
import { WebhookSecrets } from '../../../gateway/webhooks/secrets.ts';
import { startLab } from '../../support/lab.ts';
import { openMemoryStore } from '../../support/memory-store.ts';

test('While the secret is rotated at the service, a gateway that has only the old one refuses nothing', async () => {
  await using lab = await startLab();
  const { sandbox } = lab;
  const webhooks = `${sandbox.managementUrl}/v1/org/${sandbox.orgId}/team/${sandbox.teamId}/sandbox/webhook`;
  const manage = (method: string, path: string, body?: object) =>
    fetch(webhooks + path, {
      method,
      headers: { 'x-management-key': sandbox.managementKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const { data } = (await (await manage('GET', '')).json()) as { data: { id: string; url: string }[] };
  expect(data.map(({ url }) => url)).toEqual([`${lab.url}/webhooks`]);

  const userId = sandbox.users()[0]?.userId ?? '';
  const sendSome = (count: number) => {
    for (let sent = 0; sent < count; sent += 1)
      sandbox.webhooks.send('moon.phase.created', { sent }, { userId });
  };
  sendSome(50);
  const rotating = manage('POST', `/${data[0]?.id}/secret/rotate`, {});
  sendSome(50);
  expect((await rotating).status).toBe(204);
  sendSome(50);
  await sandbox.webhooks.settled();
  expect(sandbox.webhooks.sent).toHaveLength(150);
  expect(
    sandbox.webhooks.sent.filter(({ attempts, outcome }) => attempts !== 1 || outcome !== 'delivered'),
  ).toEqual([]);
});

test('A stored secret stays accepted when a gateway with another EVENT_LOG_KEY encrypts it anew', async () => {
  const { log } = await openMemoryStore();
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const open = (keys: readonly Buffer[]) =>
    WebhookSecrets.open(new SealedMarks(log, { keys, prefix: 'webhook-secret:' }), []);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const notRestarted = await open([oldKey]);
  await notRestarted.accept('place', secret);

  const restarted = await open([newKey, oldKey]);
  expect(await notRestarted.read('now')).toEqual([secret]);
  await restarted.drop('place');
  expect(await notRestarted.read('now')).toEqual([]);
  await log.close();
});

test('A secret that another gateway has ended is accepted for an hour at most', async () => {
  const { log } = await openMemoryStore();
  const keys = [randomBytes(32)];
  const open = () => WebhookSecrets.open(new SealedMarks(log, { keys, prefix: 'webhook-secret:' }), []);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const [one, other] = [await open(), await open()];
  await one.accept('place', secret);
  await other.drop('place');
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    expect(await one.read('lately')).toEqual([secret]);
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await one.read('lately')).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
  await log.close();
});

test('A start seals again the texts that another key has sealed, and writes no others', async () => {
  const { log } = await openMemoryStore();
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const marksWith = (keys: readonly Buffer[]) => new SealedMarks(log, { keys, prefix: 'webhook-secret:' });
  await marksWith([oldKey]).write('a', 'text of a');
  await marksWith([newKey, oldKey]).write('b', 'text of b');
  const before = await log.readMarks('');

  await marksWith([newKey, oldKey]).sealAnew();

  const after = await log.readMarks('');
  expect(after.get('webhook-secret:b')).toBe(before.get('webhook-secret:b'));
  expect(await marksWith([newKey]).readAll()).toEqual(
    new Map([
      ['a', 'text of a'],
      ['b', 'text of b'],
    ]),
  );
  await log.close();
});
