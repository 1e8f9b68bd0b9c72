import { expect, test } from 'vitest';
import { gatewayKey, graphqlRequest, type Lab, serviceKey, startLab, webhookSecret } from '../support/lab.ts';

const nested = `{ users(first: 20) { nodes { id demographics { firstName lastName email phoneNumber }
  orders { nodes { id patient { firstName lastName } patientAddress { firstLine } } } } } }`;
const portal =
  'mutation ($id: ID!) { createPortalUrl(input: { userId: $id }) { __typename ... on PortalUrl { url } } }';
const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';
const testkit = `mutation ($user: ID!, $test: ID!, $zip: String!) { createTestkitOrder(input: {
  userId: $user, labTestId: $test, idempotencyKey: "canary-idempotency", shippingDetails: { receiverName: "Canary Receiver"
  firstLine: "1 Canary Street", city: "Canaryville", state: "AZ", zip: $zip, country: "US", phoneNumber: "+16025550143" } }) {
  __typename ... on InputRejected { issues { path message } } ... on UserError { message } } }`;

/** Every response the gateway gives while its features are used, healthy and with a service that misbehaves. */
async function useEverything(lab: Lab): Promise<readonly string[]> {
  const heard: string[] = [];
  const send = async (request: Request) => {
    const response = await lab.gateway.fetch(request);
    heard.push(JSON.stringify([...response.headers]), await response.text());
  };
  const ask = (query: string, variables: unknown = {}) =>
    send(graphqlRequest(lab.url, { query, variables }, gatewayKey));
  const [user] = lab.sandbox.users();
  const [order] = lab.sandbox.orders();
  const kit = lab.sandbox.labTests().find(({ method }) => method === 'testkit');
  const useFeatures = async () => {
    await ask(nested);
    await ask(portal, { id: user?.userId });
    await ask(simulate, { id: order?.orderId });
    await ask(testkit, { user: user?.userId, test: kit?.labTestId, zip: 'CANARY-ZIP' });
    await ask('{ nothing }');
    await ask('{ order(id: "canary-not-a-uuid") { id } }');
    for (const path of ['/', '/health', '/ready', '/metrics', '/nowhere', '/widget/portal-widget.js']) {
      await send(new Request(`${lab.url}${path}`));
    }
    await send(new Request(`${lab.url}/webhooks`, { method: 'POST', body: '{"canary":"unsigned-canary"}' }));
    await send(
      new Request(`${lab.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` },
        body: '{"query": "malformed-canary',
      }),
    );
  };

  await useFeatures();
  for (const effect of [
    { kind: 'serverError' },
    { kind: 'truncatedBody' },
    { kind: 'tooManyRequests', retryAfterSeconds: 0 },
  ] as const) {
    lab.sandbox.faults.clear();
    lab.sandbox.faults.add({ path: '/', effect });
    await useFeatures();
  }
  lab.sandbox.faults.clear();
  await lab.sandbox.webhooks.settled();
  return heard;
}

test('the service key, the secrets and the keys of callers stand in no response', {
  timeout: 30_000,
}, async () => {
  await using lab = await startLab();
  const heard = (await useEverything(lab)).join('\n');
  expect(heard.length).toBeGreaterThan(10_000);
  for (const secret of [serviceKey, webhookSecret, gatewayKey]) expect(heard).not.toContain(secret);
  expect(heard).not.toContain('malformed-canary');
  expect(heard).not.toContain('CANARY-ZIP');
});

test('no key, no body, no name, no portal link and no user id stands in a log line or a metric', {
  timeout: 30_000,
}, async () => {
  await using lab = await startLab();
  const people = await lab.query(nested);
  const portalUrl = (await lab.query(portal, { variables: { id: lab.sandbox.users()[0]?.userId } })).data
    .createPortalUrl.url;
  await useEverything(lab);
  const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  const written = `${lab.logged.join('')}\n${metrics}`;
  const personal: readonly string[] = people.data.users.nodes.flatMap(
    (user: { id: string; demographics: Record<string, string> | null }) => [
      user.id,
      ...Object.values(user.demographics ?? {}),
    ],
  );
  const canaries = [
    serviceKey,
    webhookSecret,
    gatewayKey,
    portalUrl,
    'Canary',
    'CANARY',
    'canary',
    ...personal,
  ];
  expect(lab.logged.length).toBeGreaterThan(0);
  expect(canaries.filter((canary) => written.includes(canary))).toEqual([]);
});
