import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const createPortalUrl = `mutation ($input: CreatePortalUrlInput!) {
  createPortalUrl(input: $input) {
    __typename
    ... on PortalUrl { url expiresIn }
    ... on UserError { code message }
    ... on PortalUrlRejected { demographicsMissing issues { path message } }
  }
}`;

async function ask(lab: Lab, input: Readonly<Record<string, unknown>>, token?: string) {
  const answer = await lab.query(createPortalUrl, {
    variables: { input },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.createPortalUrl ?? answer;
}

const known = (lab: Lab) => lab.sandbox.users().find(({ hasDemographics }) => hasDemographics)?.userId ?? '';
const nameless = (lab: Lab) =>
  lab.sandbox.users().find(({ hasDemographics }) => !hasDemographics)?.userId ?? '';

test.each(['LAUNCH', 'COMMUNICATIONS'])('a %s link opens the portal', async (context) => {
  await using lab = await startLab();
  const { url, expiresIn } = await ask(lab, { userId: known(lab), context });
  expect(new URL(url).origin).toBe(lab.serviceUrl);
  expect(expiresIn).toBeGreaterThan(0);
  expect((await fetch(url)).status).toBe(200);
});

test('a link that is valid for weeks is for gateway keys only; viewer tokens are refused', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(known(lab));
  for (const input of [{}, { userId: known(lab) }, { userId: crypto.randomUUID() }]) {
    const { data, errors } = await ask(lab, { ...input, context: 'COMMUNICATIONS' }, token);
    expect(data).toEqual({ createPortalUrl: null });
    expect(errors).toMatchObject([
      { message: 'This needs a gateway key.', extensions: { code: 'FORBIDDEN' } },
    ]);
  }
  expect(lab.sandbox.calls).toEqual([]);
});

test('a token for some orders with the scope launch:portal opens the portal', async () => {
  await using lab = await startLab();
  const order = lab.sandbox.orders().find(({ userId }) => userId === known(lab));
  const orderIds = [order?.orderId];
  const token = await lab.tokenFor(known(lab), { orderIds, scopes: ['read:orders', 'launch:portal'] });
  const closed = await lab.tokenFor(known(lab), { orderIds, scopes: ['read:orders'] });
  expect((await ask(lab, {}, token)).__typename).toBe('PortalUrl');
  expect((await ask(lab, {}, closed)).errors[0].extensions.code).toBe('FORBIDDEN');
});

test('a viewer token needs no user id: the link is for its own user', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(known(lab));
  expect((await ask(lab, {}, token)).__typename).toBe('PortalUrl');
});

test('a user without demographics is distinguished from every other refusal', async () => {
  await using lab = await startLab();
  expect(await ask(lab, { userId: nameless(lab) })).toMatchObject({
    __typename: 'PortalUrlRejected',
    code: 'DEMOGRAPHICS_MISSING',
    demographicsMissing: true,
  });
  const other = lab.sandbox.orders().find((order) => order.userId !== known(lab));
  expect(await ask(lab, { userId: known(lab), orderId: other?.orderId })).toMatchObject({
    __typename: 'PortalUrlRejected',
    code: 'PORTAL_URL_REJECTED',
    demographicsMissing: false,
  });
});

test('when demographics cannot be read, nothing is claimed of them', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: /info\/latest/, effect: { kind: 'serverError' } });
  expect(await ask(lab, { userId: nameless(lab) })).toMatchObject({ demographicsMissing: null });
});

test('a feature that is not enabled for the team is an answer of its own', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: /create_portal_url/, effect: { kind: 'featureNotEnabled' } });
  expect((await ask(lab, { userId: known(lab) })).__typename).toBe('FeatureNotEnabled');
});

test('a link to an origin that is not allowed is refused', async () => {
  await using lab = await startLab({ env: { PORTAL_ORIGINS: 'https://portal.example.com' } });
  const answer = await ask(lab, { userId: known(lab) });
  expect(answer.errors[0].extensions.code).toBe('PORTAL_URL_REFUSED');
});

test.each(['javascript:alert(1)', 'https://user:pass@portal.example.com/x', 'http://portal.example.com/x'])(
  'a link like %s is never handed on',
  async (url) => {
    await using lab = await startLab({ env: { PORTAL_ORIGINS: '' } });
    lab.sandbox.faults.add({
      path: /create_portal_url/,
      effect: { kind: 'answer', status: 200, body: JSON.stringify({ url, expires_in: 600 }) },
    });
    const answer = await ask(lab, { userId: known(lab) });
    expect(answer.errors[0].extensions.code).toBe('PORTAL_URL_REFUSED');
    expect(JSON.stringify(answer)).not.toContain(url);
  },
);

test('a browser launches for nobody else and into nobody else’s order', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(known(lab));
  const other = lab.sandbox.orders().find((order) => order.userId !== known(lab));
  const answers = await Promise.all([
    ask(lab, { userId: other?.userId }, token),
    ask(lab, { userId: crypto.randomUUID() }, token),
    ask(lab, { orderId: other?.orderId }, token),
    ask(lab, { orderId: crypto.randomUUID() }, token),
  ]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]?.__typename).toBe('NotFound');
  expect(lab.sandbox.calls.filter((call) => call.includes('create_portal_url'))).toEqual([]);
});
