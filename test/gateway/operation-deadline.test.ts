import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Rights } from '../../gateway/auth/rights.ts';
import { findTestkit, listOrders } from '../../gateway/domain/order/read/rest.ts';
import { parseCurrentOrder } from '../../gateway/domain/order/read/rest-order.ts';
import { cancelOrder } from '../../gateway/domain/order/update/rest.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { Upstream } from '../../gateway/service/client.ts';
import { bindService, type Service } from '../../gateway/service/service.ts';
import { gatewayKey, graphqlRequest, readTestConfig } from '../support/lab.ts';
import { type PlainService, plainOrder, startPlainService, userId } from '../support/plain-service.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A service with 2,000 orders that takes so long for each page of them. */
async function startSlowService(pageMs: () => number): Promise<PlainService> {
  const service = await startPlainService();
  service.orders.push(...Array.from({ length: 2000 }, (_, index) => plainOrder(index, userId)));
  service.beforeList = () => void vi.advanceTimersByTime(pageMs());
  return service;
}

async function openService({ pageMs }: { readonly pageMs: () => number }) {
  const plain = await startSlowService(() => {
    pages += 1;
    return pageMs();
  });
  let pages = 0;
  const upstream = new Upstream({ url: plain.url, apiKey: 'key', apiKeyHeader: 'x-api-key' });
  const rights = new Rights({ kind: 'TEAM' });
  return {
    plain,
    service: bindService(upstream, { rights, timeoutMs: 30_000 }),
    other: bindService(upstream, { rights }),
    pages: () => pages,
    [Symbol.asyncDispose]: async () => {
      await upstream.close();
      await plain[Symbol.asyncDispose]();
    },
  };
}

/** Reads one page. */
const readPage = (service: Service) => listOrders(service, { userId }, { page: 1, size: 1 });

const timeout = { code: 'UPSTREAM_TIMEOUT' };
const order = parseCurrentOrder(plainOrder(1, userId));

describe('when an operation has waited 30 s for the service', () => {
  test('a list is not read on', async () => {
    await using opened = await openService({ pageMs: () => 11_000 });
    await expect(findTestkit(opened.service, 'none', { userId })).rejects.toMatchObject(timeout);
    expect(opened.pages()).toBe(3);
  });

  test('a read that is under way ends, and others that wait for it get its answer', async () => {
    let pageMs = 29_950;
    await using opened = await openService({ pageMs: () => pageMs });
    await readPage(opened.service);
    pageMs = 0;
    const held = Promise.withResolvers<void>();
    opened.plain.held = held.promise;
    const cut = findTestkit(opened.service, 'none', { userId });
    const other = findTestkit(opened.other, plainOrder(1, userId).id, { userId });
    await expect(cut).rejects.toMatchObject(timeout);
    held.resolve();
    expect(await other).toBeNull();
    // One call for both of them, after the first page.
    expect(opened.pages()).toBe(11);
  });

  test('a write is not sent, and a read of its outcome has as long again after one that was', async () => {
    let pageMs = 31_000;
    await using opened = await openService({ pageMs: () => pageMs });
    await findTestkit(opened.service, 'none', { userId }).catch(() => null);

    await expect(cancelOrder(opened.service, order)).rejects.toMatchObject({ ...timeout, mayBeDone: false });

    opened.service.beginAnew();
    pageMs = 20_000;
    await readPage(opened.service);
    expect(await cancelOrder(opened.service, order)).toBeNull();
    await readPage(opened.service);
    pageMs = 0;
    expect(await findTestkit(opened.service, 'none', { userId })).toBeNull();
  });

  test('its waits for other things do not count', async () => {
    await using opened = await openService({ pageMs: () => 0 });
    vi.advanceTimersByTime(60_000);
    expect(await findTestkit(opened.service, 'none', { userId })).toBeNull();
  });
});

test('a write whose time a slow read has used up says that nothing was sent, and the next mutation does not begin', async () => {
  await using slow = await startSlowService(() => 31_000);
  const gateway = await createGateway({
    config: readTestConfig({ SERVICE_URL: slow.url, EVENT_LOG: 'memory:' }),
    log: createLog({ level: 'silent' }),
    serviceUrl: slow.url,
  });
  await using _closing = { [Symbol.asyncDispose]: gateway.close };
  const { url } = await gateway.listen();
  const cancel = `cancelOrder(id: "${order.id}") { __typename }`;
  const mutation = `mutation { a: ${cancel} b: ${cancel} }`;

  const response = await gateway.fetch(graphqlRequest(url, { query: mutation }, gatewayKey));

  const { errors } = await response.json();
  expect(errors).toMatchObject([
    { path: ['a'], extensions: { code: 'UPSTREAM_TIMEOUT', mayHaveBeenDone: false } },
    { path: ['b'], extensions: { code: 'UPSTREAM_TIMEOUT' } },
  ]);
});
