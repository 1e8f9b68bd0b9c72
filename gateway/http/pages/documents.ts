import { ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { isObject } from '../../parse/json.ts';

/** A document that is sent to the holder of its ticket. */
export interface OpenedDocument {
  readonly kind: 'RESULT' | 'REQUISITION';
  readonly bytes: number | null;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface DocumentsOptions {
  /** The document of the ticket; null when the ticket is unknown, was used or has expired. Redeems the ticket. */
  readonly openDocument: (ticket: string, signal: AbortSignal) => Promise<OpenedDocument | null>;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** Headers of every document: not cached, not framed, never interpreted as anything but a PDF. */
const headers = {
  'content-type': 'application/pdf',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

const fileNames = { RESULT: 'result.pdf', REQUISITION: 'requisition.pdf' } as const;

const asAttachment = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });

/**
 * Whether Android's WebView navigates. It never reads an attachment: it gives the address to its app (`DownloadListener`),
 * which asks for it again. So it gets the head of a document, whatever the ticket is, and the ticket is left to the app.
 */
function isWebViewNavigation(request: Request): boolean {
  const isWebView = request.headers.get('user-agent')?.includes('; wv)') === true;
  return isWebView && request.headers.get('sec-fetch-mode') === 'navigate';
}

/**
 * Answers `GET /documents/:ticket` with the PDF as a stream, whose bytes pass through as they arrive. An unknown, used
 * or expired ticket always gets the same 404. HEAD is refused, because it would redeem the ticket. A navigation of Android's
 * WebView redeems none.
 */
export async function answerDocument(
  request: Request,
  ticket: string,
  options: DocumentsOptions & { readonly connection?: unknown },
): Promise<Response> {
  if (request.method !== 'GET') {
    return new Response(null, { status: 405, headers: { allow: 'GET', 'cache-control': 'no-store' } });
  }
  if (isWebViewNavigation(request))
    return new Response(null, { headers: { ...headers, ...asAttachment('document.pdf') } });
  const signal = AbortSignal.any([request.signal, options.stopping]);
  try {
    const document = await options.openDocument(ticket, signal);
    if (document === null) return refuse(404, new GatewayError('NOT_FOUND', 'There is no such document.'));
    return new Response(
      toStream(document.body, (error, controller) => breakOff({ error, controller, signal, ...options })),
      {
        headers: {
          ...headers,
          ...asAttachment(fileNames[document.kind]),
          ...(document.bytes === null ? {} : { 'content-length': String(document.bytes) }),
        },
      },
    );
  } catch (error) {
    if (isGatewayError(error)) return refuse(statusOf(error), error);
    // The client has left, so nobody reads this answer.
    if (signal.aborted) return new Response(null, { status: 503, headers: { 'cache-control': 'no-store' } });
    // Logged here, because the path of the request is a secret.
    options.log.error('document.failed', { route: '/documents/:ticket', error });
    return refuse(500, new GatewayError('INTERNAL', 'The gateway failed.'));
  }
}

interface Break {
  readonly error: unknown;
  readonly controller: ReadableStreamDefaultController;
  /** The connection, which the HTTP server passes beside a request; undefined with plain `fetch`. */
  readonly connection?: unknown;
  readonly log: Log;
  /** Aborted when the client has left or the gateway stops. The end of the stream is then not a fault. */
  readonly signal: AbortSignal;
}

/**
 * An incomplete document must not look complete, so the connection is cut. If there is a connection, it is cut
 * directly, because the server library would print an error of the stream past the log.
 */
function breakOff({ error, controller, connection, log, signal }: Break): void {
  if (!signal.aborted) log.warn('document.broken', { route: '/documents/:ticket', error });
  const outgoing = isObject(connection) ? connection.outgoing : undefined;
  if (outgoing instanceof ServerResponse) outgoing.destroy();
  else controller.error(new GatewayError('UPSTREAM_UNAVAILABLE', 'The document broke off.'));
}

/** Pulls only as much as the client takes. When the client leaves, the transfer from the service ends. */
function toStream(
  bytes: AsyncIterable<Uint8Array>,
  onBreak: (error: unknown, controller: ReadableStreamDefaultController) => void,
): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { value, done } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error, controller);
      }
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
}

function statusOf({ code }: GatewayError): number {
  if (code === 'UPSTREAM_TIMEOUT') return 504;
  if (code === 'UPSTREAM_RATE_LIMITED' || code === 'EVENT_LOG_UNAVAILABLE') return 503;
  return code === 'FORBIDDEN' ? 403 : 502;
}

function refuse(status: number, { code, message, retryAfterMs }: GatewayError): Response {
  const wait = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  return Response.json(
    { error: { code, message } },
    { status, headers: { 'cache-control': 'no-store', ...wait } },
  );
}
