import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import type { HostPage } from './support/host.ts';
import { connectToHeadlessShell, openVisit, type Visit, type VisitOptions } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

function diagnose({ page }: Visit): Promise<unknown> {
  return page.evaluate("document.querySelector('portal-launch').diagnose()");
}

/** What `diagnose()` answers on this page, at a gateway that `prepare` may have spoilt. */
async function diagnoseOn(
  more: Partial<HostPage>,
  {
    options = {},
    spoil = async () => {},
  }: { options?: VisitOptions; spoil?: (embedding: Embedding, visit: Visit) => Promise<unknown> } = {},
) {
  await using embedding = await startEmbedding();
  await using visit = await openVisit(
    { browser, embedding },
    launchPage(embedding, orderOf(embedding), { status: 'none', ...more }),
    options,
  );
  await visit.page.getByRole('button').waitFor();
  await spoil(embedding, visit);
  const { gatewayUrl, host } = embedding;
  return { diagnosis: await diagnose(visit), gatewayUrl, socketUrl: gatewayUrl.replace('http', 'ws'), host };
}

/** A token that no gateway has signed. */
async function mintStrangeToken() {
  return { token: 'none-of-ours', expiresAt: new Date(Date.now() + 60_000).toISOString() };
}

describe('diagnose() says', () => {
  test('OK where nothing is in the way', async () => {
    const { diagnosis } = await diagnoseOn({});

    expect(diagnosis).toEqual({ code: 'OK', mend: '' });
  });

  test('which source the policy of the page has to name for questions', async () => {
    const { diagnosis, gatewayUrl } = await diagnoseOn({ connects: "'self'" });

    expect(diagnosis).toEqual({ code: 'CSP_BLOCKED', mend: `connect-src ${gatewayUrl}` });
  });

  test('which source the policy of the page has to name for the socket', async () => {
    const { diagnosis, socketUrl } = await diagnoseOn({ connects: "'self' http:" });

    expect(diagnosis).toEqual({ code: 'CSP_BLOCKED', mend: `connect-src ${socketUrl}` });
  });

  test('which origin the gateway has to allow', async () => {
    const { diagnosis, host } = await diagnoseOn({}, { options: { fromStrangeOrigin: true } });

    expect(diagnosis).toEqual({ code: 'CORS_REFUSED', mend: `ALLOWED_ORIGINS=${host.strangeOrigin}` });
  });

  test('that the gateway cannot be reached', async () => {
    const { diagnosis } = await diagnoseOn(
      { mintToken: mintStrangeToken },
      { spoil: (embedding) => embedding.stopGateway() },
    );

    expect(diagnosis).toEqual({ code: 'NETWORK', mend: '' });
  });

  test('that sockets are blocked on the way', async () => {
    const block = (_: Embedding, { page }: Visit) =>
      page.evaluate(() => {
        const Socket = WebSocket;
        Object.assign(window, {
          WebSocket: class extends Socket {
            constructor() {
              super('ws://127.0.0.1:9/');
            }
          },
        });
      });

    const { diagnosis, socketUrl } = await diagnoseOn({ connects: '*' }, { spoil: block });

    expect(diagnosis).toEqual({ code: 'SOCKET_BLOCKED', mend: socketUrl });
  });

  test.each([
    ['TOKEN_UNAVAILABLE', async () => Promise.reject(new Error('The host is down.'))],
    [
      'UNAUTHENTICATED',
      async () => ({ token: 'none-of-ours', expiresAt: new Date(Date.now() + 60_000).toISOString() }),
    ],
  ])('%s where the token is at fault', async (code, mintToken) => {
    const { diagnosis } = await diagnoseOn({ mintToken });

    expect(diagnosis).toEqual({ code, mend: 'tokenProvider' });
  });

  test('ENDPOINT_INVALID where the address is no address of a gateway', async () => {
    const { diagnosis } = await diagnoseOn({
      body: '<portal-launch endpoint="http://gateway.test"></portal-launch>',
    });

    expect(diagnosis).toEqual({ code: 'ENDPOINT_INVALID', mend: 'endpoint="https://…"' });
  });
});
