import otherLit from 'lit-html?url';
import { afterEach, describe, expect, test } from 'vitest';

/** The module as it is served; `npm test` builds it first. */
const moduleUrl = new URL('../../../widget/dist/portal-widget.js', import.meta.url).href;

/** The strictest policy a page can have and still run the widget. */
const STRICT = [
  "default-src 'none'",
  "script-src 'self'",
  'connect-src https://gateway.test wss://gateway.test',
  "require-trusted-types-for 'script'",
];

afterEach(() => {
  document.body.replaceChildren();
});

/** A page of its own with this policy and these module scripts, and everything the policy was broken by. */
async function openPage(
  trustedTypes: string,
  { scripts = [moduleUrl], body = '<portal-launch></portal-launch>' } = {},
) {
  const frame = document.createElement('iframe');
  const policy = [...STRICT, `trusted-types ${trustedTypes}`].join('; ');
  const modules = scripts.map((url) => `<script type="module" src="${url}"></script>`).join('');
  frame.srcdoc = `<!doctype html><html lang="en"><meta http-equiv="content-security-policy" content="${policy}">${modules}<body>${body}`;
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const page = frame.contentWindow as Window & typeof globalThis;
  return { page, violations: await readViolations(page) };
}

/** Reports are buffered, so that nothing that happened while the page loaded is missed. */
async function readViolations(page: Window & typeof globalThis): Promise<string[]> {
  const observer = new page.ReportingObserver(() => {}, { types: ['csp-violation'], buffered: true });
  observer.observe();
  await new Promise((resolve) => page.requestAnimationFrame(() => page.requestAnimationFrame(resolve)));
  return observer.takeRecords().map(({ body }) => JSON.stringify(body));
}

function readButton(page: Window): string | undefined {
  return page.document
    .querySelector('portal-launch')
    ?.shadowRoot?.querySelector('button')
    ?.textContent?.trim();
}

describe('the built module on a page with a strict policy', () => {
  test('runs without a violation where only portal-widget is a trusted policy', async () => {
    const { page, violations } = await openPage('portal-widget', {
      body: `<portal-gateway endpoint="https://gateway.test/graphql">
        <portal-launch status="text"></portal-launch><portal-order-status status="steps"></portal-order-status></portal-gateway>`,
    });

    expect([violations, readButton(page)?.startsWith('Open patient portal')]).toEqual([[], true]);
  });

  test('is styled there', async () => {
    const { page } = await openPage('portal-widget');
    const button = page.document.querySelector('portal-launch')?.shadowRoot?.querySelector('button');

    expect(button?.offsetHeight).toBeGreaterThanOrEqual(44);
  });

  test('may be loaded twice: the second copy asks for no policy and defines nothing', async () => {
    const { page, violations } = await openPage('portal-widget', {
      scripts: [moduleUrl, `${moduleUrl}?copy=2`],
    });

    expect([violations, readButton(page)?.startsWith('Open patient portal')]).toEqual([[], true]);
  });

  test('shares the page with a Lit of the host that has its own policy', async () => {
    const { page, violations } = await openPage('portal-widget lit-html', { scripts: [otherLit, moduleUrl] });

    expect('litHtmlVersions' in page).toBe(true);
    expect([violations, readButton(page)?.startsWith('Open patient portal')]).toEqual([[], true]);
  });

  test('does not run where its policy is not allowed: the link in the element stays', async () => {
    const { page } = await openPage("'none'", {
      body: '<portal-launch><a href="/help">Ask for your link</a></portal-launch>',
    });

    expect(page.customElements.get('portal-launch')).toBeUndefined();
    expect(page.document.querySelector('portal-launch a')?.checkVisibility()).toBe(true);
  });

  test('is one module without any import', async () => {
    const code = await (await fetch(moduleUrl)).text();

    expect(
      code.match(/\bimport\s*[({*]|\bimport\s+\w+\s*,?\s*(from|\{)\s*["'`]\.|\beval\(|new Function/g),
    ).toBeNull();
  });
});
