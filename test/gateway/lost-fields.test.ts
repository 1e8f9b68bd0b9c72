import { isNonNullType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { managementSchema } from '../../gateway/domain/management-schema.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { needsOf } from '../../gateway/graph/permissions.ts';
import { startLab } from '../support/lab.ts';
import { callerKey, manage } from '../support/management.ts';
import { text } from '../support/misbehaving-service.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';

/** Resolvers that take the context can call the service. */
function takesContext(extensions: Readonly<Record<string, unknown>>): boolean {
  const options = extensions.pothosOptions as
    | { readonly resolve?: (...args: unknown[]) => unknown }
    | undefined;
  return (options?.resolve?.length ?? 0) > 2;
}

test('a field that can fail by itself can be null, so that the rest of its object is shown', () => {
  const subscriptions = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const found = [schema, managementSchema].flatMap((of) =>
    Object.values(of.getTypeMap())
      .filter((type) => isObjectType(type))
      .filter(({ name }) => !name.startsWith('__'))
      .flatMap((type) =>
        Object.values(type.getFields())
          // An item of a stream is there before its field is resolved.
          .filter((field) => isNonNullType(field.type) && !subscriptions.includes(field))
          .filter((field) => needsOf(field) !== undefined || takesContext(field.extensions))
          .map(({ name }) => `${type.name}.${name}`),
      ),
  );
  // These read the caller from the context, or report a value that the graph does not know.
  expect(found.toSorted()).toEqual([
    'AreaLab.capabilities',
    'EventPipeline.enabled',
    'Lab.collectionMethods',
    'OrderStatus.stage',
    'PhlebotomyProvider.serviceTypes',
    'Query.viewer',
    'ServiceCenter.capabilities',
  ]);
});

describe('a failed field is null, and its neighbours are shown:', () => {
  test('the orders of one user of a page', async () => {
    await using lab = await startSpoiltLab();
    const ids = lab.sandbox.users().map(({ userId }) => userId);
    lab.spoil({
      at: new RegExp(`GET .orders.*user_id=${ids[1]}`),
      isDone: false,
      answer: text('', 500),
      times: 9,
    });

    const { data, errors } = await lab.query(
      '{ users(first: 3) { nodes { id orders(first: 1) { nodes { id } } } } }',
    );

    const shown = data.users.nodes.map((user: { readonly id: string; readonly orders: unknown }) => [
      user.id,
      user.orders !== null,
    ]);
    const wanted = ids.slice(0, 3).map((id) => [id, id !== ids[1]]);
    expect(shown.toSorted()).toEqual(wanted.toSorted());
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  test('health data that the token does not allow', async () => {
    await using lab = await startLab();
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    const token = await lab.tokenFor(userId, { scopes: ['read:orders'] });

    const { data, errors } = await lab.query(
      '{ viewer { user { id healthSamples(resource: "glucose") { value } healthSummaries(resource: "sleep") { id } } } }',
      { token },
    );

    expect(data.viewer.user).toEqual({ id: userId, healthSamples: null, healthSummaries: null });
    expect(errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
      { extensions: { code: 'FORBIDDEN' } },
    ]);
  });

  test('the other orders of a transaction', async () => {
    await using lab = await startSpoiltLab();
    const { data: all } = await lab.query(
      '{ orders(first: 100) { nodes { id userId transaction { orders { id } } } } }',
    );
    const { id, userId, transaction } = all.orders.nodes.find(
      (order: { readonly transaction: { readonly orders: readonly object[] } | null }) =>
        (order.transaction?.orders.length ?? 0) > 1,
    );
    const token = await lab.tokenFor(userId);
    const other = transaction.orders.find((order: { readonly id: string }) => order.id !== id).id;
    lab.spoil({
      at: new RegExp(`GET .*(order_ids=|order/)${other}`),
      isDone: false,
      answer: text('', 500),
      times: 9,
    });

    const { data, errors } = await lab.query(
      `{ order(id: "${id}") { id transaction { statusRaw orders { id } } } }`,
      { token },
    );

    expect(data.order.transaction).toEqual({ statusRaw: expect.any(String), orders: null });
    expect(errors).toMatchObject([{ path: ['order', 'transaction', 'orders'] }]);
  });

  test('the headers of one webhook of a team', async () => {
    await using lab = await startLab({ managementCaller: callerKey });
    const { data: made } = await manage(
      lab,
      'mutation { createTeam(input: { name: "North", region: US }) { ... on TeamCreated { team { id } } } }',
    );
    const { id } = made.createTeam.team;
    const create = (url: string) =>
      `createWebhook(input: { teamId: "${id}", environment: SANDBOX, url: "${url}" }) { ... on WebhookCreated { webhook { id } } }`;
    const { data: webhooks } = await manage(
      lab,
      `mutation { a: ${create('https://a.example/x')} b: ${create('https://b.example/x')} }`,
    );
    const effect = { kind: 'answer', status: 400, body: '{}' } as const;
    lab.sandbox.faults.add({
      path: new RegExp(`${webhooks.a.webhook.id}/headers`),
      method: 'GET',
      times: 9,
      effect,
    });

    const { data } = await manage(
      lab,
      `{ team(teamId: "${id}") { webhooks(environment: SANDBOX) { nodes { id headers { name } } } } }`,
    );

    const shown = data.team.webhooks.nodes.map(
      (webhook: { readonly id: string; readonly headers: unknown }) => [webhook.id, webhook.headers],
    );
    expect(shown.toSorted()).toEqual(
      [
        [webhooks.a.webhook.id, null],
        [webhooks.b.webhook.id, []],
      ].toSorted(),
    );
  });
});
