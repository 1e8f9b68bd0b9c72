import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inGateway, startEmbedding } from './support/embedding.ts';
import { connectToHeadlessShell, openVisit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

/** What came after Chrome 111, Safari 16.4 or Firefox 115 (docs/embedding.md), removed in the page. */
function removeNewer(kind: 'dashed states' | 'no states'): void {
  const newer: readonly (readonly [object, readonly string[]])[] = [
    [URL, ['parse', 'canParse']],
    [AbortSignal, ['any']],
    [Map, ['groupBy']],
    [Object, ['groupBy']],
    [Promise, ['withResolvers', 'try']],
    [Array, ['fromAsync']],
    [RegExp, ['escape']],
    [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']],
    [String.prototype, ['isWellFormed', 'toWellFormed']],
    [Uint8Array, ['fromBase64', 'fromHex']],
    [Uint8Array.prototype, ['toBase64', 'toHex']],
    [Object.getPrototypeOf(Object.getPrototypeOf([].values())), ['map', 'filter', 'some', 'toArray', 'find']],
    [Element.prototype, ['moveBefore', 'checkVisibility', 'setHTMLUnsafe', 'role', 'ariaLive', 'ariaLabel']],
    [globalThis, ['Iterator', 'scheduler', 'Temporal']],
  ];
  for (const [owner, names] of newer) for (const name of names) Reflect.deleteProperty(owner, name);
  if (kind === 'no states') Reflect.deleteProperty(ElementInternals.prototype, 'states');
  const { add } = CustomStateSet.prototype;
  CustomStateSet.prototype.add = function (state) {
    if (!state.startsWith('--')) throw new DOMException('It must start with dashes.', 'SyntaxError');
    return add.call(this, state);
  };
}

test.each(['dashed states', 'no states'] as const)(
  'in a browser of 2023 (%s) a patient sees the order live with its results, and opens the portal',
  async (kind) => {
    await using embedding = await startEmbedding();
    const { orderId, userId } = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
    const errors: string[] = [];
    const elements = `<portal-launch order-id="${orderId}" status="steps"></portal-launch>
      <portal-results order-id="${orderId}" privacy="full"></portal-results>`;
    const page = {
      head: `<script type="module" src="${embedding.gatewayUrl}/widget/portal-results.js"></script>`,
      body: inGateway(embedding, elements),
      mintToken: () =>
        embedding.mintToken(userId, { scopes: ['read:orders', 'read:results', 'launch:portal'] }),
    };
    await using visit = await openVisit({ browser, embedding }, page, {
      prepare: async (opened) => {
        opened.on('pageerror', (error) => errors.push(error.message));
        await opened.addInitScript(removeNewer, kind);
      },
    });
    const shown = (text: string) => visit.page.getByText(text).first().waitFor();

    await shown('There are no results yet.');
    await embedding.advance(orderId);
    await shown('More results are still to come.');
    await embedding.advance(orderId);
    await shown('All results are here.');
    expect(await visit.page.evaluate(() => 'parse' in URL || 'any' in AbortSignal)).toBe(false);
    const portal = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await portal;

    expect(errors).toEqual([]);
  },
);
