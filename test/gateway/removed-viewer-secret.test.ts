import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { gatewayKey, type Lab, readTestConfig, startLab } from '../support/lab.ts';
import { openSocket } from '../support/socket.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const leaked = 'the leaked secret of more than 32 characters';
const other = 'another secret of more than 32 characters';
const kind = '{ viewer { kind } }';
const answer = { data: { viewer: { kind: 'USER' } } };

const use = (lab: Lab, secrets: readonly string[]) =>
  lab.gateway.useSecrets(
    readTestConfig({
      SERVICE_URL: lab.serviceUrl,
      GATEWAY_API_KEYS: gatewayKey,
      VIEWER_TOKEN_SECRET: secrets.join(),
    }),
  );

/** The same token without the id of its key, signed by somebody who has the secret. */
function forge(token: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${token.split('.')[1]}`;
  return `${text}.${createHmac('sha256', leaked).update(text).digest('base64url')}`;
}

test('A viewer secret that is removed ends the sockets and streams of its tokens, and those of no other', async () => {
  await using lab = await startLab({ env: { VIEWER_TOKEN_SECRET: `${leaked},${other}` } });
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const old = await lab.tokenFor(userId);
  const sockets = [openSocket(lab, old), openSocket(lab, forge(old))];
  const query = 'subscription { userOrderUpdates { kind } }';
  const stream = await subscribeOverSse({ url: lab.url, token: old, query });
  use(lab, [other, leaked]);
  const young = await lab.tokenFor(userId);
  const kept = openSocket(lab, young);
  for (const socket of [...sockets, kept]) expect(await socket.ask(kind)).toEqual(answer);

  use(lab, [other]);

  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4403, 4403]);
  while ((await stream.next()) !== null);
  expect(await kept.ask(kind)).toEqual(answer);
  expect(await openSocket(lab, old).closed).toBe(4403);
  use(lab, [other, leaked]);
  const again = openSocket(lab, old);
  expect(await again.ask(kind)).toEqual(answer);
  for (const { client } of [kept, again]) await client.dispose();
});
