import { createHash } from 'node:crypto';
import { type GatewayError, isGatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { readWithin } from '../../parse/bytes.ts';

/** The reasons why the browser is not redirected. Each has a page of its own. */
export type LaunchRefusal =
  | 'BAD_REQUEST'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'DEMOGRAPHICS_MISSING'
  | 'PORTAL_URL_REJECTED'
  | 'FEATURE_NOT_ENABLED'
  | 'PORTAL_URL_REFUSED'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_RATE_LIMITED'
  | 'UPSTREAM_UNAVAILABLE'
  | 'EVENT_LOG_UNAVAILABLE'
  | 'INTERNAL';

export interface LaunchOptions {
  /** The portal link for the ticket, or the reason why there is none. Redeems the ticket. */
  readonly openPortal: (
    posted: { readonly ticket: string; readonly origin: string },
    signal: AbortSignal,
  ) => Promise<{ readonly url: string } | LaunchRefusal>;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** A ticket has 43 characters. */
const maxBodyBytes = 1024;
const formType = 'application/x-www-form-urlencoded';

/**
 * Answers `POST /launch`, the form of a page with a launch ticket in its field `ticket`, by a redirect to the portal.
 * No script can read the link, because scripts of other origins cannot read the answer, and the portal does not learn
 * from which page the browser came. A request that is not such a form, or has no origin, does not redeem its ticket.
 */
export async function answerLaunch(request: Request, options: LaunchOptions): Promise<Response> {
  if (request.method !== 'POST') {
    return new Response(null, { status: 405, headers: { allow: 'POST', 'cache-control': 'no-store' } });
  }
  const origin = request.headers.get('origin');
  // Pages that hide their origin send `null`, which identifies no page.
  if (origin === null || origin === 'null') return answerLaunchPage('FORBIDDEN');
  const signal = AbortSignal.any([request.signal, options.stopping]);
  try {
    const ticket = await readTicket(request);
    if (ticket === null) return answerLaunchPage('BAD_REQUEST');
    const opened = await options.openPortal({ ticket, origin }, signal);
    return typeof opened === 'string' ? answerLaunchPage(opened) : sendOn(opened.url);
  } catch (error) {
    if (isGatewayError(error)) return answerLaunchPage(refusalOf(error), error.retryAfterMs);
    // The client has left, so nobody reads this answer.
    if (!signal.aborted) options.log.error('launch.failed', { route: '/launch', error });
    return answerLaunchPage('INTERNAL');
  }
}

/** The posted ticket; null for everything that is not a small form with one. */
async function readTicket(request: Request): Promise<string | null> {
  const [type] = (request.headers.get('content-type') ?? '').split(';');
  if (type?.trim().toLowerCase() !== formType) return null;
  const body = await readWithin(request.body, maxBodyBytes);
  return body === null ? null : new URLSearchParams(body.toString('utf8')).get('ticket');
}

function sendOn(url: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
  });
}

function refusalOf({ code }: GatewayError): LaunchRefusal {
  switch (code) {
    case 'FORBIDDEN':
    case 'PORTAL_URL_REFUSED':
    case 'UPSTREAM_TIMEOUT':
    case 'UPSTREAM_RATE_LIMITED':
    case 'EVENT_LOG_UNAVAILABLE':
      return code;
    default:
      return 'UPSTREAM_UNAVAILABLE';
  }
}

/** The text for a person and the HTTP status. Neither contains any part of the request. */
interface PageText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const again = 'Please close this tab, go back to the page you came from and try again.';
const later = 'Please close this tab and try again in a few minutes.';
const ask = 'Please close this tab and ask the people whose page you came from.';

const pages: Readonly<Record<LaunchRefusal, PageText>> = {
  BAD_REQUEST: {
    status: 400,
    title: 'This page opens by itself',
    text: `There is nothing to open here. ${again}`,
  },
  FORBIDDEN: { status: 403, title: 'The portal cannot be opened from there', text: ask },
  NOT_FOUND: {
    status: 404,
    title: 'This way to the portal has ended',
    text: `It works once, and for half a minute. ${again}`,
  },
  DEMOGRAPHICS_MISSING: {
    status: 422,
    title: 'Some of your details are missing',
    text: `The portal needs them before it can be opened. ${ask}`,
  },
  PORTAL_URL_REJECTED: { status: 422, title: 'The portal could not be opened', text: ask },
  FEATURE_NOT_ENABLED: { status: 403, title: 'The portal is not available here', text: ask },
  PORTAL_URL_REFUSED: { status: 502, title: 'The portal could not be opened', text: ask },
  UPSTREAM_TIMEOUT: { status: 504, title: 'The portal did not answer in time', text: later },
  UPSTREAM_RATE_LIMITED: { status: 503, title: 'The portal is busy', text: later },
  UPSTREAM_UNAVAILABLE: { status: 502, title: 'The portal cannot be reached', text: later },
  EVENT_LOG_UNAVAILABLE: { status: 503, title: 'The portal cannot be opened now', text: later },
  INTERNAL: { status: 500, title: 'Something went wrong', text: later },
};

const style = `:root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}
body{margin:0;background:#fff;color:#1d2b30}@media(prefers-color-scheme:dark){body{background:#12191c;color:#e4edf0}}
main{max-width:32rem;margin:20vh auto 0;padding:0 1.25rem}h1{font-size:1.375rem;line-height:1.3}`;
const styleHash = createHash('sha256').update(style).digest('base64');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/**
 * A page in plain words for a person who could not be redirected. It has no script, and it can be neither cached nor
 * framed. Its code is for the people who help, and is in docs/errors.md.
 */
function answerLaunchPage(code: LaunchRefusal, retryAfterMs?: number): Response {
  const { status, title, text } = pages[code];
  const wait = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
<p><small>Code: ${code}</small></p>
</main>
</body>
</html>
`;
  return new Response(page, { status, headers: { ...headers, ...wait } });
}
