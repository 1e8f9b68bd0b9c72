import { listChangedOrders } from '../domain/order/read/rest.ts';
import { GatewayError } from '../errors.ts';
import { type Reconciler, startReconciler } from '../events/reconcile.ts';
import { SealedMarks } from '../events/sealed-marks.ts';
import type { GatewayWebhook } from '../graph/context.ts';
import type { Broker, Intake } from '../intake/intake.ts';
import { createWebhookEndpoint, type ReceiveWebhook, type WebhookOutcome } from '../webhooks/endpoint.ts';
import { createReceiver, type ReceiptOutcome, type Receive } from '../webhooks/receiver.ts';
import { WebhookSecrets } from '../webhooks/secrets.ts';
import { sendTestEvent } from '../webhooks/test-event.ts';
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
  /** One for each broker that events are consumed from. */
  readonly intakes: readonly Intake[];
  readonly webhookSecrets: WebhookSecrets;
  /** Whether an event is being received now, over any route. */
  readonly isReceiving: () => boolean;
}

/** Opens every route that is configured. */
export async function openEventRoutes(
  core: Core,
  { services, ...more }: Omit<IntakeParts, 'receive' | 'webhookSecrets'> & { readonly services: Services },
): Promise<EventRoutes> {
  const store = new SealedMarks(core.store.log, {
    keys: core.config.eventLogKeys,
    prefix: 'webhook-secret:',
  });
  const webhookSecrets = await WebhookSecrets.open(store, core.config.webhookSecrets);
  const { receive, isReceiving } = countUnderWay(createReceive(core, services));
  const parts = { ...more, receive, webhookSecrets };
  return {
    webhookSecrets,
    isReceiving,
    receiveWebhook: createWebhooks(core, parts),
    receivePubSub: await createPubSub(core, parts),
    intakes: await startIntakes(core, parts),
  };
}

/** Changes of the gateway's own webhook: each can take as long as a test event, 15 s. */
const maxWaiting = 10;
const tooMany = () =>
  new GatewayError('RATE_LIMITED', 'Too many changes of this webhook wait already.', {
    retryAfterMs: 15_000,
    notSent: true,
  });

/** The webhook of this gateway, as the management graph sets it up. */
export function createGatewayWebhook(
  { config, store }: Core,
  { webhookSecrets }: EventRoutes,
): GatewayWebhook {
  const url = config.publicUrl === null ? null : `${config.publicUrl}/webhooks`;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    url,
    hasSecrets: (place) => webhookSecrets.has(place),
    dropSecrets: (place, secret) => webhookSecrets.drop(place, secret),
    accept: (place, secret) => webhookSecrets.accept(place, secret),
    replaceOthers: (place, replacement) => webhookSecrets.replaceOthers(place, replacement),
    sendTestEvent: async (teamId, secret) =>
      url === null ? 'NOT_ARRIVED' : await sendTestEvent({ events: store.log, url, teamId, secret }),
    inTurn: (run) => {
      if (waiting >= maxWaiting) {
        return Promise.reject(tooMany());
      }
      waiting += 1;
      const own = last.then(run).finally(() => {
        waiting -= 1;
      });
      last = own.catch(() => undefined);
      return own;
    },
  };
}

/** Counts the events that are being received. */
function countUnderWay(receive: Receive): Pick<EventRoutes, 'isReceiving'> & { readonly receive: Receive } {
  let underWay = 0;
  return {
    isReceiving: () => underWay > 0,
    receive: async (arrival) => {
      underWay += 1;
      try {
        return await receive(arrival);
      } finally {
        underWay -= 1;
      }
    },
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
    onDurable: ({ appendSeconds, deadReason, factsLeftOut }) => {
      metrics.appendSeconds.observe(appendSeconds);
      if (deadReason !== null) metrics.deadLetters.inc({ reason: deadReason });
      if (factsLeftOut > 0) metrics.countUnreadable('event.facts', '$.data', factsLeftOut);
    },
  });
}

interface IntakeParts {
  readonly webhookSecrets: WebhookSecrets;
  readonly receive: Receive;
  readonly reconciler: Reconciler;
  /** Receives the outcome of each event: the cache is off while events cannot be stored. */
  readonly noteOutcome: (outcome: WebhookOutcome) => void;
}

/** The endpoint of the service's webhooks, counted. */
function createWebhooks({ log, metrics }: Core, parts: IntakeParts): ReceiveWebhook {
  return createWebhookEndpoint({
    secrets: (asOf) => parts.webhookSecrets.read(asOf),
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

/** Starts to consume events from every broker that is configured; without one nothing is loaded. */
async function startIntakes(core: Core, parts: IntakeParts): Promise<readonly Intake[]> {
  if (core.config.intake === null) return [];
  const brokers = await openBrokers(core);
  const { Intake } = await import('../intake/intake.ts');
  const options = {
    receive: parts.receive,
    isLogWritable: () => core.store.log.isWritable(),
    log: core.log,
    onOutcome: countBrokerMessages(core, parts),
  };
  return brokers.map((broker) => new Intake(broker, options));
}

/**
 * Opens every broker that is configured, and loads the library of no other.
 * @throws GatewayError CONFIG_INVALID where its library is not installed
 */
async function openBrokers({ config, log, store }: Core): Promise<readonly Broker[]> {
  const { rabbitmq = null, pull = null, eventHubs = null } = config.intake ?? {};
  const brokers: Broker[] = [];
  if (rabbitmq !== null) {
    const { createRabbitBroker } = await import('../intake/rabbitmq.ts').catch(
      refuse('INTAKE_RABBITMQ_URL', 'rabbitmq-client'),
    );
    brokers.push(createRabbitBroker({ ...rabbitmq, log }));
  }
  if (pull !== null) {
    const { createPullBroker } = await import('../intake/pubsub-pull.ts').catch(
      refuse('INTAKE_PUBSUB_SUBSCRIPTION', '@google-cloud/pubsub'),
    );
    brokers.push(createPullBroker({ ...pull, log }));
  }
  if (eventHubs !== null) {
    const { createEventHubsBroker } = await import('../intake/event-hubs.ts').catch(
      refuse('INTAKE_EVENTHUBS_CONNECTION_STRING', '@azure/event-hubs'),
    );
    const isShared = config.eventLog.kind === 'redis';
    brokers.push(createEventHubsBroker({ ...eventHubs, marks: store.log, isShared, log }));
  }
  return brokers;
}

function refuse(setting: string, library: string) {
  return (cause: unknown): never => {
    const message = `- ${setting} needs the optional package ${library}, which is not installed.`;
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  };
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
