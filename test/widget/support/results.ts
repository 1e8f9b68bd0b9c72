import { expect, vi } from 'vitest';
import type { PortalResults } from '../../../widget/src/index.ts';
import type { FakeGateway } from './fake-gateway.ts';
import { kitAfter, ORDER_ID, type WireOrder } from './orders.ts';
import { mount } from './page.ts';

/** The answer to a token that may not read results. */
export const FORBIDDEN = {
  data: { order: null },
  errors: [{ message: 'No.', extensions: { code: 'FORBIDDEN' } }],
};

/** An order that has all its results. */
export const complete = (): WireOrder => kitAfter(8);

/** The results of an order at this gateway, with all details, live whether or not they can be seen. */
export function mountResults(gateway: FakeGateway, properties: Partial<PortalResults> = {}): PortalResults {
  return mount('portal-results', {
    endpoint: gateway.endpoint,
    orderId: ORDER_ID,
    tokenProvider: async () => 'token',
    live: 'always',
    privacy: 'full',
    ...properties,
  });
}

/** Settles when the element is in this phase. */
export async function untilPhase(element: PortalResults, phase: PortalResults['phase']): Promise<void> {
  await vi.waitFor(() => expect(element.phase).toBe(phase));
  await element.updateComplete;
}

/** The rows on screen, cell by cell. */
export function readRows(element: Element): readonly (readonly string[])[] {
  const rows = [...(element.shadowRoot?.querySelectorAll('tr.biomarker') ?? [])];
  const read = (node: Element) => (node.textContent ?? '').replace(/\s+/g, ' ').trim();
  return rows.map((row) => [...row.children].map((cell) => read(cell).replace(/^Expected range: /, '')));
}
