import { expect, test } from 'vitest';
import { startLab } from '../../support/lab.ts';

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
