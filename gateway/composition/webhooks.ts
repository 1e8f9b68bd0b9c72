import { listChangedOrders } from '../domain/order/read/rest.ts';
import { GatewayError } from '../errors.ts';
import { type Reconciler, startReconciler } from '../events/reconcile.ts';
import type { Intake } from '../intake/intake.ts';
import { createWebhookEndpoint, type ReceiveWebhook, type WebhookOutcome } from '../webhooks/endpoint.ts';
import { createReceiver, type ReceiptOutcome, type Receive } from '../webhooks/receiver.ts';
import type { Core } from './core.ts';
import type { Services } from './service.ts';
import { readers } from './webhook-readers.ts';

const minuteMs = 60_000;
/** Grace covers the sender's second attempt, 5 s after the first. */
const timing = { silenceMs: 5 * minuteMs, graceMs: 6000, lookMs: 1000 };

/** Compares the service with the event log from time to time, because webhooks can be lost. */
export function startReconciliation(core: Core, services: Services): Reconciler {
  const { config, log, metrics, store, stopping } = core;
  return startReconciler({
    events: store.log,
    changedSince: (since) => listChangedOrders(services.bindOwn(stopping.signal), since),
    log,
    onReconciled: (count) => metrics.reconciled.inc(count),
    timing: { ...timing, everyMs: config.reconcileMinutes * minuteMs },
  });
}

/** The routes over which events come. */
export interface EventRoutes {
  readonly receiveWebhook: ReceiveWebhook;
  readonly receivePubSub: ReceiveWebhook | null;
  readonly intake: Intake | null;
  readonly useWebhookSecrets: (secrets: readonly string[]) => void;
}

/** Opens every route that is configured. */
export async function openEventRoutes(
  core: Core,
  { services, ...more }: Omit<IntakeParts, 'receive' | 'webhookSecrets'> & { readonly services: Services },
): Promise<EventRoutes> {
  let secrets = core.config.webhookSecrets;
  const parts = { ...more, receive: createReceive(core, services), webhookSecrets: () => secrets };
  return {
    useWebhookSecrets: (next) => {
      secrets = next;
    },
    receiveWebhook: createWebhooks(core, parts),
    receivePubSub: await createPubSub(core, parts),
    intake: await startIntake(core, parts),
  };
}

/** Receives events over any route: reads them, and writes them to the event log. */
function createReceive({ config, log, metrics, store }: Core, services: Services): Receive {
  return createReceiver({
    events: store.log,
    log,
    subjectOf: readers.subjectOf,
    factsOf: readers.factsOf,
    teamId: (from) => services.learnTeam(from),
    comparesContent: config.intake !== null,
    onDurable: ({ appendSeconds, deadReason }) => {
      metrics.appendSeconds.observe(appendSeconds);
      if (deadReason !== null) metrics.deadLetters.inc({ reason: deadReason });
    },
  });
}

interface IntakeParts {
  readonly webhookSecrets: () => readonly string[];
  readonly receive: Receive;
  readonly reconciler: Reconciler;
  /** Receives the outcome of each event: the cache is off while events cannot be stored. */
  readonly noteOutcome: (outcome: WebhookOutcome) => void;
}

/** The endpoint of the service's webhooks, counted. */
function createWebhooks({ log, metrics }: Core, parts: IntakeParts): ReceiveWebhook {
  return createWebhookEndpoint({
    secrets: parts.webhookSecrets,
    receive: parts.receive,
    log,
    onOutcome: (outcome) => {
      metrics.webhooks.inc({ outcome });
      noteOutcome(outcome, parts);
    },
    onLag: (seconds) => metrics.webhookLagSeconds.observe(seconds),
    onClockOffset: (seconds) => metrics.webhookClockOffset.set(seconds),
  });
}

/** The endpoint of Google Pub/Sub, counted; null where none is configured, and then nothing is loaded. */
async function createPubSub(core: Core, parts: IntakeParts): Promise<ReceiveWebhook | null> {
  const { config, log } = core;
  const pubsub = config.intake?.pubsub ?? null;
  if (pubsub === null) return null;
  const { createPubSubEndpoint } = await import('../intake/pubsub.ts');
  const { createPushTokens } = await import('../auth/push-tokens.ts');
  const onKeys = (isThere: boolean, error?: unknown) => {
    if (isThere) log.info('pubsub.keys_back');
    else log.error('pubsub.keys_gone', { error });
  };
  return createPubSubEndpoint({
    isAuthorized: createPushTokens({ ...pubsub, onKeys }),
    receive: parts.receive,
    log,
    onOutcome: countBrokerMessages(core, parts),
  });
}

/** Starts to consume events from the configured broker; null where there is none, and then nothing is loaded. */
async function startIntake(core: Core, parts: IntakeParts): Promise<Intake | null> {
  const { config, log, store } = core;
  const rabbitmq = config.intake?.rabbitmq ?? null;
  if (rabbitmq === null) return null;
  const { createRabbitBroker } = await import('../intake/rabbitmq.ts').catch((cause: unknown) => {
    const message =
      '- INTAKE_RABBITMQ_URL needs the optional package rabbitmq-client, which is not installed.';
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  });
  const { Intake } = await import('../intake/intake.ts');
  return new Intake(createRabbitBroker({ ...rabbitmq, log }), {
    receive: parts.receive,
    isLogWritable: () => store.log.isWritable(),
    log,
    onOutcome: countBrokerMessages(core, parts),
  });
}

function countBrokerMessages({ metrics }: Core, parts: IntakeParts) {
  return (outcome: ReceiptOutcome | 'unavailable') => {
    metrics.brokerMessages.inc({ outcome });
    noteOutcome(outcome, parts);
  };
}

function noteOutcome(outcome: WebhookOutcome, { noteOutcome: note, reconciler }: IntakeParts): void {
  note(outcome);
  // The sender may stop trying before the log can be written again.
  if (outcome === 'unavailable') reconciler.request('gap');
}
