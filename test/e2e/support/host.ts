import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** What the token endpoint of a host answers. */
export interface ViewerToken {
  readonly token: string;
  readonly expiresAt: string;
}

/** One page of the host. */
export interface HostPage {
  readonly body: string;
  /**
   * Where the module comes from. `gateway`: from the gateway, and tokens from an endpoint of the host.
   * `self`: from the host itself, with the first token printed into the page, so that the policy is exactly
   * the strictest one the widget promises to run under: not even the host's own server may be asked.
   */
  readonly policy?: 'gateway' | 'self';
  /** Mints a token as the host's server does: the team's key stays there. */
  readonly mintToken: () => Promise<ViewerToken>;
  readonly tokenDelayMs?: number;
  /** Whether the page passes the expiry of a token to the element. */
  readonly sendsExpiry?: boolean;
  /** `connect-src` of the page, where it is not what the widget needs. */
  readonly connects?: string;
  /** The markup that loads the module, and the rest of the head, where it is not one script tag. */
  readonly head?: string;
  /** A file that the page loads in place of the gateway's module: a whole app, with the widget in it. */
  readonly app?: string;
  /** `script-src` of the page, where it is not where the module comes from. */
  readonly scripts?: string;
  /** The policies of Trusted Types that the page allows. */
  readonly trustedTypes?: string;
  /** `form-action` of the page; it has none when left out. */
  readonly postsTo?: string;
  /** The permissions of the directive `sandbox`; without it the page is not sandboxed. */
  readonly sandbox?: string;
  /** `Referrer-Policy` of the page; the browser's own when left out. */
  readonly referrerPolicy?: string;
  /** Launches without a click. */
  readonly launchesAtLoad?: boolean;
}

/** The server of a team that embeds the widget, on an origin of its own. */
export interface Host {
  /** Known to the gateway. The name differs from the gateway's, so that the two are different sites too. */
  readonly origin: string;
  /** The same server under a name the gateway does not know. */
  readonly strangeOrigin: string;
  /** Puts a page up and gives its path. */
  readonly serve: (page: HostPage) => string;
  readonly close: () => Promise<void>;
}

const appFile = new URL('./host-app.js', import.meta.url);
const litAppFile = new URL('host-lit-app.js', import.meta.url);
const widgetFile = new URL('../../../widget/dist/portal-widget.js', import.meta.url);
/** As pages have it: without its hints for developers. */
const litFile = new URL('../../../node_modules/lit-html/lit-html.js', import.meta.url);

/** @param gatewayUrl asked for at every page, because the gateway starts after its hosts are known */
export async function startHost(gatewayUrl: () => string): Promise<Host> {
  const pages: HostPage[] = [];
  const server = createServer((request, response) => {
    const [, kind, number] = request.url?.split('/') ?? [];
    const page = pages[Number(number)];
    answer(response, { kind, page, number: Number(number), gatewayUrl: gatewayUrl() }).catch(
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a TCP port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    strangeOrigin: `http://127.0.0.1:${port}`,
    serve: (page) => `/page/${pages.push(page) - 1}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Asked {
  /** The first part of the path. */
  readonly kind: string | undefined;
  readonly page: HostPage | undefined;
  /** Which page it is. */
  readonly number: number;
  readonly gatewayUrl: string;
}

async function answer(response: ServerResponse, asked: Asked): Promise<void> {
  const { kind, page } = asked;
  if (kind === 'app.js') await sendScript(response, appFile);
  else if (kind === 'lit-app.js') await sendScript(response, litAppFile);
  else if (kind === 'lit.js') await sendScript(response, litFile);
  else if (kind === 'portal-widget.js') await sendScript(response, widgetFile);
  else if (kind === 'tampered.js') await sendScript(response, widgetFile, 'globalThis.isTampered = true;');
  else if (kind === 'app' && page?.app) await sendScript(response, pathToFileURL(page.app));
  else if (kind === 'page' && page) await sendPage(response, page, asked);
  else if (kind === 'token' && page) await sendToken(response, page);
  else response.writeHead(404).end('There is nothing here.');
}

async function sendPage(response: ServerResponse, page: HostPage, asked: Asked): Promise<void> {
  const { number, gatewayUrl } = asked;
  const { policy = 'gateway', launchesAtLoad = false, sendsExpiry = true } = page;
  const token = policy === 'self' ? (await page.mintToken()).token : null;
  const settings = JSON.stringify({ tokenPath: `/token/${number}`, token, launchesAtLoad, sendsExpiry });
  const widget = policy === 'self' ? '/portal-widget.js' : `${gatewayUrl}/widget/portal-widget.js`;
  const script = page.app === undefined ? widget : `/app/${number}`;
  const head = page.head ?? `<script type="module" src="${script}"></script>`;
  // One for all pages will do where nobody attacks.
  const nonce = page.scripts?.includes('nonce') ? ' nonce="once"' : '';
  response.setHeader('content-security-policy', policyOf(policy, gatewayUrl, page));
  if (page.referrerPolicy) response.setHeader('referrer-policy', page.referrerPolicy);
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><html lang="en"><title>Your test</title>
<script id="settings" type="application/json">${settings}</script>
<script type="module" src="/app.js"${nonce}></script>${head}
<body><main><h1>Your test</h1>${page.body}</main></body></html>`);
}

function policyOf(policy: 'gateway' | 'self', gatewayUrl: string, page: HostPage): string {
  const { connects, postsTo, sandbox, scripts, trustedTypes = 'portal-widget' } = page;
  const gateway = `${gatewayUrl} ${gatewayUrl.replace('http', 'ws')}`;
  const self = policy === 'self' ? '' : "'self' ";
  return [
    "default-src 'none'",
    `script-src ${scripts ?? (policy === 'self' ? "'self'" : `'self' ${gatewayUrl}`)}`,
    `connect-src ${connects ?? self + gateway}`,
    ...(postsTo === undefined ? [] : [`form-action ${postsTo}`]),
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
    ...(sandbox === undefined ? [] : [`sandbox ${sandbox}`]),
  ].join('; ');
}

async function sendScript(response: ServerResponse, file: URL, more = ''): Promise<void> {
  response.setHeader('content-type', 'text/javascript; charset=utf-8');
  response.end((await readFile(file, 'utf8')) + more);
}

async function sendToken(response: ServerResponse, page: HostPage): Promise<void> {
  await wait(page.tokenDelayMs ?? 0);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await page.mintToken()));
}
