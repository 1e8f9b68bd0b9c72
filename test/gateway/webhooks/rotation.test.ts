import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
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
  await notRestarted.refresh();

  expect(notRestarted.accepted).toEqual([secret]);
  await restarted.drop('place');
  await notRestarted.refresh();
  expect(notRestarted.accepted).toEqual([]);
  await log.close();
});
