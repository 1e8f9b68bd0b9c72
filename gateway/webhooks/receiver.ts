import { codeOf, GatewayError } from '../errors.ts';
import type { Appended, DeadReason, EventLog, NewMessage } from '../events/log.ts';
import type { Log } from '../log.ts';
import { currentTracing, runInSpan } from '../telemetry/tracing.ts';
import { type FactsOf, readEnvelope, type SubjectOf } from './envelope.ts';

export interface ReceiverOptions {
  readonly events: EventLog;
  readonly log: Log;
  readonly subjectOf: SubjectOf;
  readonly factsOf?: FactsOf;
  /**
   * The team whose events are delivered, null when it cannot be known now. `earlier` is the team of an earlier run, which
   * needs no call to the service. Never rejects.
   */
  readonly teamId: (from: 'earlier' | 'service') => Promise<string | null>;
  /** Whether events may come over two routes, so that they are also compared by their content. */
  readonly comparesContent?: boolean;
  /** Called for each message that is durable, new or known. */
  readonly onDurable?: (message: DurableMessage) => void;
}

export type ReceiptOutcome = 'accepted' | 'duplicate' | 'altered' | 'dead';

export interface DurableMessage {
  readonly appendSeconds: number;
  /** Set when it is a new dead letter. */
  readonly deadReason: DeadReason | null;
  /** Facts of a new message that were not stored, because they were too large together. */
  readonly factsLeftOut: number;
}

/** A message that is known to come from the service: its signature was verified, or the broker let its sender in. */
export interface Arrival {
  readonly route: 'webhook' | 'broker';
  /** Null where the sender gives none, as through a broker. */
  readonly messageId: string | null;
  readonly receivedAt: Date;
  readonly body: Buffer;
  /** False for bytes that are known to be no envelope, such as those in an unknown encoding. */
  readonly isDecoded?: boolean;
  /** Asked just before it is appended: whether it goes back to its sender, because an earlier one could not be stored. */
  readonly isRefused?: () => boolean;
}

/**
 * Reads the envelope, compares the team and appends: the one way of every event into the log. Messages are appended in
 * the order of the calls. Resolves when the message is durable.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
 */
export type Receive = (arrival: Arrival) => Promise<ReceiptOutcome>;

function ignore(): void {}

export function createReceiver(options: ReceiverOptions): Receive {
  const { events, log, onDurable } = options;
  const read = async (arrival: Arrival) => {
    const earlier = await options.teamId('earlier');
    const message = readEnvelope(arrival, { ...options, teamId: earlier });
    if (message.deadReason !== 'other-team') return message;
    // The service's key may belong to another team since the earlier run.
    const teamId = await options.teamId('service');
    return teamId === earlier ? message : readEnvelope(arrival, { ...options, teamId });
  };
  // One after the other, so that no message passes another while the team is being learned.
  let reading: Promise<void> = Promise.resolve();
  return async (arrival) => {
    const own = reading.then(() => read(arrival));
    // Without its value, which would stay in memory until the next message comes.
    reading = own.then(ignore, ignore);
    const message = await own;
    if (arrival.isRefused?.() === true) throw describeRefused();
    const startedAt = performance.now();
    const appended = await append(events, message);
    const outcome = outcomeOf(message, appended);
    onDurable?.({
      appendSeconds: (performance.now() - startedAt) / 1000,
      deadReason: outcome === 'dead' ? message.deadReason : null,
      factsLeftOut: outcome === 'accepted' ? message.factsLeftOut : 0,
    });
    logAccepted(log, `${arrival.route}.accepted`, { message, appended });
    return outcome;
  };
}

function describeRefused(): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'An earlier event could not be stored.');
}

/** Where tracing is on, the append has a span, which the subscribers' items have links to. */
async function append(events: EventLog, message: NewMessage): Promise<Appended> {
  const span = currentTracing()?.start('append events', {
    kind: 'producer',
    attributes: {
      'messaging.system': 'labgraph',
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'append',
      'messaging.destination.name': 'events',
    },
  });
  const traced = span?.isRecorded ? { ...message, trace: span.traceparent } : message;
  return await runInSpan(span, () => events.append(traced), codeOf);
}

interface Accepted {
  readonly message: NewMessage;
  readonly appended: Appended;
}

function logAccepted(log: Log, event: string, { message, appended }: Accepted): void {
  const { position, duplicate, altered } = appended;
  log.info(event, {
    messageId: message.messageId,
    eventType: message.type,
    position,
    duplicate,
    ...(altered ? { altered } : {}),
    ...(message.deadReason === null ? {} : { reason: message.deadReason }),
  });
}

function outcomeOf({ deadReason }: NewMessage, { duplicate, altered }: Appended): ReceiptOutcome {
  if (altered) return 'altered';
  if (duplicate) return 'duplicate';
  return deadReason === null ? 'accepted' : 'dead';
}
