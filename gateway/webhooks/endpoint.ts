import type { Readable } from 'node:stream';
import { type ErrorCode, type GatewayError, isGatewayError } from '../errors.ts';
import { createThrottle, type Log } from '../log.ts';
import {
  announcedBytesOf,
  bodyOf,
  createBodyBuffer,
  type Holding,
  maxBodyBytes,
  readBody,
} from './body-buffer.ts';
import type { ReceiptOutcome, Receive } from './receiver.ts';
import {
  createClockCheck,
  createSignatureCheck,
  readSignatureHeaders,
  type SignatureHeaders,
} from './signature.ts';

const retryAfterSeconds = 5;

export interface WebhookEndpointOptions {
  /**
   * The active secrets; another list when they have changed. Before a message is refused they are read again (`now`), because
   * another gateway may have stored a new one.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly secrets: (asOf: 'now' | 'lately') => Promise<readonly string[]>;
  readonly receive: Receive;
  readonly log: Log;
  /** Called with the outcome of each request. */
  readonly onOutcome?: (outcome: WebhookOutcome) => void;
  /** Called for each durable message with the seconds from its signing to its arrival, whole seconds of the sender's. */
  readonly onLag?: (seconds: number) => void;
  /** Called for each signed message with the seconds between its signing and its arrival. */
  readonly onClockOffset?: (seconds: number) => void;
}

/** `stale`: signed, and more than 300 s off. `flooded`: refused because the buffer was full. */
export type WebhookOutcome = ReceiptOutcome | 'refused' | 'stale' | 'flooded' | 'unavailable';

/** The connection of a request: the address of its sender, and its body as Node's stream. */
export interface WebhookConnection {
  readonly sender: string;
  readonly body: Readable;
}

/** Requests without a connection count as one sender. */
export type ReceiveWebhook = (request: Request, connection?: WebhookConnection) => Promise<Response>;

/**
 * The receiver of the service's webhooks: signature headers -> raw bytes -> signature -> durable append -> 2xx. 202 for a
 * new message, 200 for a known one; 401 if unsigned (before the body is read if the headers show it) or more than 300 s
 * off, 413 too large, 415 compressed; 503 with `retry-after` when it could not be made durable or the buffer is full, so
 * that the sender tries again and nothing acknowledged can be lost.
 */
export function createWebhookEndpoint(options: WebhookEndpointOptions): ReceiveWebhook {
  const endpoint = new WebhookEndpoint(options);
  return (request, connection) => endpoint.receive(request, connection);
}

class WebhookEndpoint {
  readonly #options: WebhookEndpointOptions;
  readonly #beginBody = createBodyBuffer();
  #secrets: readonly string[] = [];
  #isSigned = createSignatureCheck([]);
  readonly #isInTime: ReturnType<typeof createClockCheck>;
  // Anyone can cause thousands of refusals, and a log that is gone refuses everything: each kind is logged once a minute.
  readonly #warnOfUnsigned = createThrottle();
  readonly #warnOfFlood = createThrottle();
  readonly #warnOfUnavailable = createThrottle();

  constructor(options: WebhookEndpointOptions) {
    this.#options = options;
    this.#isInTime = createClockCheck({ log: options.log, onOffset: options.onClockOffset });
  }

  async receive(request: Request, connection?: WebhookConnection): Promise<Response> {
    if (request.headers.has('content-encoding')) return this.#refuse('WEBHOOK_ENCODED', 'refused');
    const announcedBytes = announcedBytesOf(request);
    if (announcedBytes > maxBodyBytes) return this.#refuse('WEBHOOK_TOO_LARGE', 'refused');
    const headers = readSignatureHeaders(request.headers);
    if (headers === null) return this.#refuseUnsigned();
    const holding = this.#beginBody({ sender: connection?.sender ?? '', announcedBytes });
    if (holding === null) return this.#refuseFlood();
    try {
      return await this.#take(connection?.body ?? bodyOf(request), headers, holding);
    } finally {
      holding.end();
    }
  }

  async #take(stream: Readable, headers: SignatureHeaders, holding: Holding): Promise<Response> {
    const body = await readBody(stream, holding);
    if (body.kind === 'no-room') return this.#refuseFlood();
    if (body.kind === 'too-large') return this.#refuse('WEBHOOK_TOO_LARGE', 'refused');
    try {
      if (!(await this.#isAccepted(headers, body.bytes))) return this.#refuseUnsigned();
      // The same answer as to an unsigned message: nobody learns from it whether a signature was right.
      if (!this.#isInTime(headers.signedAtSeconds)) return this.#refuse('WEBHOOK_UNVERIFIED', 'stale');
      return await this.#append(headers, body.bytes);
    } catch (error) {
      if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
      return this.#refuseUnavailable(error);
    }
  }

  async #isAccepted(headers: SignatureHeaders, body: Buffer): Promise<boolean> {
    this.#useSecrets(await this.#options.secrets('lately'));
    if (this.#isSigned(headers, body)) return true;
    const before = this.#secrets;
    this.#useSecrets(await this.#options.secrets('now'));
    return this.#secrets !== before && this.#isSigned(headers, body);
  }

  #useSecrets(secrets: readonly string[]): void {
    if (secrets === this.#secrets) return;
    this.#secrets = secrets;
    this.#isSigned = createSignatureCheck(secrets);
  }

  async #append({ messageId, signedAtSeconds }: SignatureHeaders, body: Buffer): Promise<Response> {
    const receivedAt = new Date();
    const { receive, onOutcome, onLag } = this.#options;
    const outcome = await receive({ route: 'webhook', messageId, receivedAt, body });
    onOutcome?.(outcome);
    onLag?.(Math.max(0, receivedAt.getTime() / 1000 - signedAtSeconds));
    return new Response(null, { status: known.has(outcome) ? 200 : 202 });
  }

  #refuseUnsigned(): Response {
    this.#warnOfUnsigned(() => this.#options.log.warn('webhook.refused', { code: 'WEBHOOK_UNVERIFIED' }));
    return this.#refuse('WEBHOOK_UNVERIFIED', 'refused');
  }

  #refuseUnavailable({ code, cause }: GatewayError): Response {
    this.#warnOfUnavailable(() => this.#options.log.warn('webhook.unavailable', { code, error: cause }));
    return this.#refuse('EVENT_LOG_UNAVAILABLE', 'unavailable');
  }

  #refuseFlood(): Response {
    this.#warnOfFlood(() => this.#options.log.warn('webhook.flooded', { code: 'WEBHOOK_FLOODED' }));
    return this.#refuse('WEBHOOK_FLOODED', 'flooded');
  }

  #refuse(code: keyof typeof refusals, outcome: WebhookOutcome): Response {
    this.#options.onOutcome?.(outcome);
    const { status, message } = refusals[code];
    const headers = status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {};
    return Response.json({ error: { code, message } }, { status, headers });
  }
}

const known: ReadonlySet<ReceiptOutcome> = new Set(['duplicate', 'altered']);

const refusals = {
  WEBHOOK_UNVERIFIED: {
    status: 401,
    message: 'The signature headers are missing, wrong or more than 300 seconds off.',
  },
  WEBHOOK_ENCODED: { status: 415, message: 'Send the body as it was signed, without content-encoding.' },
  WEBHOOK_TOO_LARGE: { status: 413, message: 'The body may have 1 MiB at most.' },
  WEBHOOK_FLOODED: { status: 503, message: 'The buffer for webhooks is full. Send it again in a moment.' },
  EVENT_LOG_UNAVAILABLE: { status: 503, message: 'The webhook could not be made durable. Send it again.' },
} as const satisfies Partial<Record<ErrorCode, { readonly status: number; readonly message: string }>>;
