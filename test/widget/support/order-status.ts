import { expect, vi } from 'vitest';
import type { FakeGateway } from './fake-gateway.ts';
import { ORDER_ID } from './orders.ts';
import { mount } from './page.ts';

/** The status of an order at this gateway, live whether or not it can be seen. */
export function mountStatus(
  gateway: FakeGateway,
  properties: Partial<HTMLElementTagNameMap['portal-order-status']> = {},
) {
  const { endpoint } = gateway;
  const tokenProvider = async () => 'token';
  return mount('portal-order-status', {
    endpoint,
    orderId: ORDER_ID,
    tokenProvider,
    live: 'always',
    ...properties,
  });
}

/** A busy machine may take seconds for an attempt. */
const WAIT = { timeout: 150_000, interval: 50 };

/** Settles when no socket could be opened often enough; the element retries without waiting. */
export async function untilPolling(element: HTMLElementTagNameMap['portal-order-status']): Promise<void> {
  await vi.waitFor(() => {
    window.dispatchEvent(new Event('online'));
    expect(element.connection).toBe('polling');
  }, WAIT);
}
