import { type ErrorCode, isGatewayError } from '../errors.ts';
import type { Appended, DeadReason, EventLog, NewMessage } from '../events/log.ts';
import type { Log } from '../log.ts';
import { announcedBytesOf, maxBodyBytes, readBody } from './body.ts';
import { createClockCheck } from './clock.ts';
import { type FactsOf, readEnvelope, type SubjectOf } from './envelope.ts';
import { createIntakeBound, type Holding } from './intake-bound.ts';
import { createSignatureCheck, readSignatureHeaders, type SignatureHeaders } from './signature.ts';
import { createThrottle } from './throttle.ts';

const retryAfterSeconds = 5;

export interface WebhookEndpointOptions {
  readonly secrets: readonly string[];
  readonly events: EventLog;
  readonly log: Log;
  readonly subjectOf: SubjectOf;
  readonly factsOf?: FactsOf;
  /** The team whose events are delivered, null when it cannot be known now. */
  readonly teamId: () => Promise<string | null>;
  /** Told what became of each request. */
  readonly onOutcome?: (outcome: WebhookOutcome) => void;
  /** Told of each message that was made durable, or found to be. */
  readonly onKept?: (kept: KeptMessage) => void;
  /** Told of each signed message how many seconds after its signing it came. */
  readonly onClockOffset?: (seconds: number) => void;
}

/** `stale`: signed, and more than 300 s off. `flooded`: turned away because too much was in hand. */
export type WebhookOutcome =
  | 'accepted'
  | 'duplicate'
  | 'altered'
  | 'dead'
  | 'refused'
  | 'stale'
  | 'flooded'
  | 'unavailable';

export interface KeptMessage {
  readonly appendSeconds: number;
  /** From the sender's signing of this attempt to its acceptance, in whole seconds of the sender's. */
  readonly lagSeconds: number;
  /** Set when it is a new dead letter. */
  readonly deadReason: DeadReason | null;
}

/** The sender is its address; requests without an address count as one sender. */
export type ReceiveWebhook = (request: Request, sender?: string) => Promise<Response>;

/**
 * The receiver of the service's webhooks: signature headers -> raw bytes -> signature -> durable append -> 2xx. 202 for a
 * new message, 200 for a known one; 401 if unsigned (before the body is read if the headers show it) or more than 300 s
 * off, 413 too large, 415 compressed; 503 with `retry-after` when it could not be made durable or the buffer is full, so
 * that the sender tries again and nothing acknowledged can be lost.
 */
export function createWebhookEndpoint(options: WebhookEndpointOptions): ReceiveWebhook {
  const beginIntake = createIntakeBound();
  const refuse = createRefusals(options);
  const accept = createAcceptance(options, refuse);

  const take = async (request: Request, headers: SignatureHeaders, holding: Holding): Promise<Response> => {
    const body = await readBody(request, holding);
    if (body.kind === 'no-room') return refuse.flooded();
    if (body.kind === 'whole') return await accept(headers, body.bytes);
    return refuse.malformed('WEBHOOK_TOO_LARGE');
  };

  return async (request, sender = '') => {
    if (request.headers.has('content-encoding')) return refuse.malformed('WEBHOOK_ENCODED');
    const announcedBytes = announcedBytesOf(request);
    if (announcedBytes > maxBodyBytes) return refuse.malformed('WEBHOOK_TOO_LARGE');
    const headers = readSignatureHeaders(request.headers);
    if (headers === null) return refuse.unsigned();
    const holding = beginIntake({ sender, announcedBytes });
    if (holding === null) return refuse.flooded();
    try {
      return await take(request, headers, holding);
    } finally {
      holding.end();
    }
  };
}

type Refusals = ReturnType<typeof createRefusals>;

/** Anyone can cause thousands of refusals, so they are logged once a minute. */
function createRefusals({ log, onOutcome }: WebhookEndpointOptions) {
  const [warnOfUnsigned, warnOfFlood] = [createThrottle(), createThrottle()];
  return {
    malformed: (code: 'WEBHOOK_ENCODED' | 'WEBHOOK_TOO_LARGE'): Response => {
      onOutcome?.('refused');
      return refusal(code);
    },
    unsigned: (): Response => {
      onOutcome?.('refused');
      warnOfUnsigned(() => log.warn('webhook.refused', { code: 'WEBHOOK_UNVERIFIED' }));
      return refusal('WEBHOOK_UNVERIFIED');
    },
    flooded: (): Response => {
      onOutcome?.('flooded');
      warnOfFlood(() => log.warn('webhook.flooded', { code: 'WEBHOOK_FLOODED' }));
      return refusal('WEBHOOK_FLOODED');
    },
  };
}

/** What happens to a message that has come whole. */
function createAcceptance(
  options: WebhookEndpointOptions,
  refuse: Refusals,
): (headers: SignatureHeaders, body: Buffer) => Promise<Response> {
  const { log, onOutcome, subjectOf, factsOf } = options;
  const isSigned = createSignatureCheck(options.secrets);
  const isInTime = createClockCheck({ log, onOffset: options.onClockOffset });

  const keep = async ({ messageId, signedAtSeconds }: SignatureHeaders, body: Buffer): Promise<Response> => {
    const receivedAt = new Date();
    const message = readEnvelope(
      { messageId, receivedAt, body },
      { subjectOf, factsOf, teamId: await options.teamId() },
    );
    const startedAt = performance.now();
    const appended = await options.events.append(message);
    const outcome = outcomeOf(message, appended);
    onOutcome?.(outcome);
    options.onKept?.({
      appendSeconds: (performance.now() - startedAt) / 1000,
      lagSeconds: Math.max(0, receivedAt.getTime() / 1000 - signedAtSeconds),
      deadReason: outcome === 'dead' ? message.deadReason : null,
    });
    logAccepted(log, message, appended);
    return new Response(null, { status: appended.duplicate ? 200 : 202 });
  };

  return async (headers, body) => {
    if (!isSigned(headers, body)) return refuse.unsigned();
    if (!isInTime(headers.signedAtSeconds)) {
      onOutcome?.('stale');
      // Word for word what an unsigned one gets: whoever tries signatures learns nothing.
      return refusal('WEBHOOK_UNVERIFIED');
    }
    try {
      return await keep(headers, body);
    } catch (error) {
      if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
      onOutcome?.('unavailable');
      log.warn('webhook.unavailable', { code: error.code, error: error.cause });
      return refusal('EVENT_LOG_UNAVAILABLE');
    }
  };
}

function logAccepted(log: Log, message: NewMessage, { position, duplicate, altered }: Appended): void {
  log.info('webhook.accepted', {
    messageId: message.messageId,
    eventType: message.type,
    position,
    duplicate,
    ...(altered ? { altered } : {}),
    ...(message.deadReason === null ? {} : { reason: message.deadReason }),
  });
}

function outcomeOf({ deadReason }: NewMessage, { duplicate, altered }: Appended): WebhookOutcome {
  if (altered) return 'altered';
  if (duplicate) return 'duplicate';
  return deadReason === null ? 'accepted' : 'dead';
}

const refusals = {
  WEBHOOK_UNVERIFIED: {
    status: 401,
    message: 'The signature headers are missing, wrong or more than 300 seconds off.',
  },
  WEBHOOK_ENCODED: { status: 415, message: 'Send the body as it was signed, without content-encoding.' },
  WEBHOOK_TOO_LARGE: { status: 413, message: 'The body may have 1 MiB at most.' },
  WEBHOOK_FLOODED: { status: 503, message: 'Too many webhooks are in hand. Send it again in a moment.' },
  EVENT_LOG_UNAVAILABLE: { status: 503, message: 'What was to be kept could not be made durable.' },
} as const satisfies Partial<Record<ErrorCode, { readonly status: number; readonly message: string }>>;

function refusal(code: keyof typeof refusals): Response {
  const { status, message } = refusals[code];
  const headers = status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {};
  return Response.json({ error: { code, message } }, { status, headers });
}
