import { type GatewayError, isGatewayError } from '../errors.ts';
import type { EventLog } from '../events/log.ts';
import type { Log } from '../log.ts';
import { type FactsOf, readEnvelope, type SubjectOf } from './envelope.ts';
import { createSignatureCheck } from './signature.ts';

const maxBodyBytes = 1024 * 1024;
const retryAfterSeconds = 5;

export interface WebhookEndpointOptions {
  readonly secrets: readonly string[];
  readonly events: EventLog;
  readonly log: Log;
  readonly subjectOf: SubjectOf;
  readonly factsOf?: FactsOf;
  /** The team whose events are delivered, null when it cannot be known now. */
  readonly teamId: () => Promise<string | null>;
  readonly onOutcome?: (outcome: WebhookOutcome, appendSeconds?: number) => void;
}

export type WebhookOutcome = 'accepted' | 'duplicate' | 'altered' | 'dead' | 'refused' | 'unavailable';

/**
 * The receiver of the service's webhooks: raw bytes -> signature -> durable append -> 2xx. 202 for a new
 * message, 200 for a known one; 401 unsigned, 413 too large, 415 compressed; 503 with `retry-after` when it
 * could not be made durable, so that the sender tries again and nothing acknowledged can be lost.
 */
export function createWebhookEndpoint(
  options: WebhookEndpointOptions,
): (request: Request) => Promise<Response> {
  const { events, log, onOutcome } = options;
  const checkSignature = createSignatureCheck(options.secrets);

  const accept = async (request: Request, body: Buffer): Promise<Response> => {
    const { messageId } = checkSignature({ headers: request.headers, body });
    const message = readEnvelope(
      { messageId, receivedAt: new Date(), body },
      { subjectOf: options.subjectOf, factsOf: options.factsOf, teamId: await options.teamId() },
    );
    const startedAt = performance.now();
    const { position, duplicate, altered } = await events.append(message);
    const outcome = outcomeOf({ duplicate, altered, isDead: message.deadReason !== null });
    onOutcome?.(outcome, (performance.now() - startedAt) / 1000);
    log.info('webhook.accepted', {
      messageId,
      eventType: message.type,
      position,
      duplicate,
      ...(altered ? { altered } : {}),
      ...(message.deadReason === null ? {} : { reason: message.deadReason }),
    });
    return new Response(null, { status: duplicate ? 200 : 202 });
  };

  const refuse = (error: GatewayError): Response => {
    const isOurs = error.code === 'EVENT_LOG_UNAVAILABLE';
    onOutcome?.(isOurs ? 'unavailable' : 'refused');
    log.warn(isOurs ? 'webhook.unavailable' : 'webhook.refused', { code: error.code, error: error.cause });
    return Response.json(
      { error: { code: error.code, message: error.message } },
      { status: statusOf(error), headers: isOurs ? { 'retry-after': String(retryAfterSeconds) } : {} },
    );
  };

  return async (request) => {
    if (request.headers.has('content-encoding')) return refusal(415, 'WEBHOOK_ENCODED', onOutcome);
    const body = await readLimited(request);
    if (body === null) return refusal(413, 'WEBHOOK_TOO_LARGE', onOutcome);
    try {
      return await accept(request, body);
    } catch (error) {
      if (isGatewayError(error, 'WEBHOOK_UNVERIFIED', 'EVENT_LOG_UNAVAILABLE')) return refuse(error);
      throw error;
    }
  };
}

interface Acceptance {
  readonly duplicate: boolean;
  readonly altered: boolean;
  readonly isDead: boolean;
}

function outcomeOf({ duplicate, altered, isDead }: Acceptance): WebhookOutcome {
  if (altered) return 'altered';
  if (duplicate) return 'duplicate';
  return isDead ? 'dead' : 'accepted';
}

function statusOf(error: GatewayError): number {
  return error.code === 'WEBHOOK_UNVERIFIED' ? 401 : 503;
}

const refusals = {
  WEBHOOK_ENCODED: 'Send the body as it was signed, without content-encoding.',
  WEBHOOK_TOO_LARGE: 'The body may have 1 MiB at most.',
} as const;

function refusal(
  status: number,
  code: keyof typeof refusals,
  onOutcome: WebhookEndpointOptions['onOutcome'],
): Response {
  onOutcome?.('refused');
  return Response.json({ error: { code, message: refusals[code] } }, { status });
}

/** The whole body, or null as soon as it exceeds the limit. */
async function readLimited(request: Request): Promise<Buffer | null> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
