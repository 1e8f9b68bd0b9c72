import { type GatewayError, isGatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { answerLaunchPage } from './launch-page.ts';

/** Why nobody is sent on; each has a page of its own (launch-page.ts). */
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
  /** The portal link that the ticket is for, or why there is none. Spends the ticket. */
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
 * Answers `POST /launch`, the form of a page with a launch ticket in its field `ticket`: sends the browser on to the
 * portal. No script of any page sees where: the answer is for no script of another origin, and tells the portal nothing
 * of where the browser came from. What is no such form, or says no origin, spends no ticket.
 */
export async function answerLaunch(request: Request, options: LaunchOptions): Promise<Response> {
  if (request.method !== 'POST') {
    return new Response(null, { status: 405, headers: { allow: 'POST', 'cache-control': 'no-store' } });
  }
  const origin = request.headers.get('origin');
  // `null` is what many pages say who hide theirs: no page can be told by it.
  if (origin === null || origin === 'null') return answerLaunchPage('FORBIDDEN');
  const signal = AbortSignal.any([request.signal, options.stopping]);
  try {
    const ticket = await readTicket(request);
    if (ticket === null) return answerLaunchPage('BAD_REQUEST');
    const opened = await options.openPortal({ ticket, origin }, signal);
    return typeof opened === 'string' ? answerLaunchPage(opened) : sendOn(opened.url);
  } catch (error) {
    if (isGatewayError(error)) return answerLaunchPage(refusalOf(error), error.retryAfterMs);
    // Nobody is there to read it.
    if (!signal.aborted) options.log.error('launch.failed', { route: '/launch', error });
    return answerLaunchPage('INTERNAL');
  }
}

/** The posted ticket; null for everything that is not a small form with one. */
async function readTicket(request: Request): Promise<string | null> {
  const [type] = (request.headers.get('content-type') ?? '').split(';');
  if (type?.trim().toLowerCase() !== formType) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8')).get('ticket');
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
