import type { FakeGateway } from './fake-gateway.ts';
import { mount } from './page.ts';

/** A page of this test's own server that reports what it knows of the page it came from. */
export const PORTAL_URL = new URL('portal-page.html?key=once', import.meta.url).href;

/** A launch button at this gateway. */
export function mountLaunch(
  gateway: FakeGateway,
  properties: Partial<HTMLElementTagNameMap['portal-launch']> = {},
) {
  const { endpoint } = gateway;
  return mount('portal-launch', { endpoint, tokenProvider: async () => 'token', ...properties });
}

/** Recorded so that a test can check that no secret was disclosed. */
export function recordEvents(target: EventTarget): string[] {
  const seen: string[] = [];
  const names = ['portal-before-launch', 'portal-launched', 'portal-blocked', 'portal-error'] as const;
  for (const name of names) {
    target.addEventListener(name, (event) =>
      seen.push(`${name} ${JSON.stringify((event as CustomEvent).detail)}`),
    );
  }
  return seen;
}

/** What the portal knows once the tab has arrived there. */
export function portalArrival(): Promise<unknown> {
  const channel = new BroadcastChannel('portal-page');
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      channel.close();
      resolve(data);
    };
  });
}
