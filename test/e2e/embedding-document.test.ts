import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey } from '../support/lab.ts';
import { launchPage, startEmbedding } from './support/embedding.ts';
import { connectToHeadlessShell, openVisit } from './support/visit.ts';

const document = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

/** The function of the document, as a server of a team would load it. */
async function readTokenFunction(): Promise<
  (userId: string) => Promise<{ token: string; expiresAt: string }>
> {
  const [, code = ''] = /```js\n(const mutation.*?)```/s.exec(document) ?? [];
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return module.createPortalToken;
}

describe('the document about embedding', () => {
  test('has a token endpoint that works: the page shows the order, and opens the portal', async () => {
    await using embedding = await startEmbedding();
    const order = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
    Object.assign(process.env, {
      GATEWAY_URL: `${embedding.gatewayUrl}/graphql`,
      GATEWAY_API_KEY: gatewayKey,
      APP_ORIGIN: embedding.host.origin,
    });
    const createPortalToken = await readTokenFunction();
    const page = launchPage(embedding, order, { mintToken: () => createPortalToken(order.userId) });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.page.getByText('Appointment scheduled').waitFor();
    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();

    expect(new URL((await opening).url()).origin).toBe(embedding.serviceUrl);
  });

  test('lists the permissions with which a sandboxed frame shows the order and opens the portal', async () => {
    await using embedding = await startEmbedding();
    const order = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
    const [, sandbox = ''] = /^- In a sandboxed frame: `([^`]*)`/m.exec(document) ?? [];
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order, { sandbox }));

    await visit.page.getByText('Appointment scheduled').waitFor();
    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();

    expect(new URL((await opening).url()).origin).toBe(embedding.serviceUrl);
  });

  test('has the policy under which the widget was tried, word by word', async () => {
    await using embedding = await startEmbedding();
    const order = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
    const page = embedding.host.serve(launchPage(embedding, order));

    const response = await fetch(embedding.host.origin + page);
    const tried = response.headers.get('content-security-policy') ?? '';
    const [, written] = /^Content-Security-Policy: (.*)$/m.exec(document) ?? [];

    expect(written).toBe(
      tried
        .replaceAll(embedding.gatewayUrl.replace('http', 'ws'), 'wss://gateway.example.com')
        .replaceAll(embedding.gatewayUrl, 'https://gateway.example.com'),
    );
  });
});
