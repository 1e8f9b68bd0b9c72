import { listChangedOrders } from '../domain/order/read/rest.ts';
import { type Reconciler, startReconciler } from '../events/reconcile.ts';
import { createWebhookEndpoint, type ReceiveWebhook, type WebhookOutcome } from '../webhooks/endpoint.ts';
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

export interface WebhookParts {
  readonly services: Services;
  readonly reconciler: Reconciler;
  /** Receives the outcome of each webhook: the cache is off while webhooks cannot be stored. */
  readonly noteIntake: (outcome: WebhookOutcome) => void;
}

/** The endpoint of the service's webhooks, which writes the event log and is counted. */
export function createWebhooks(
  { config, log, metrics, store }: Core,
  { services, reconciler, noteIntake }: WebhookParts,
): ReceiveWebhook {
  return createWebhookEndpoint({
    secrets: config.webhookSecrets,
    events: store.log,
    log,
    subjectOf: readers.subjectOf,
    factsOf: readers.factsOf,
    teamId: () => services.learnTeam(),
    onOutcome: (outcome) => {
      metrics.webhooks.inc({ outcome });
      noteIntake(outcome);
      // The sender may stop trying before the log can be written again.
      if (outcome === 'unavailable') reconciler.request('gap');
    },
    onDurable: ({ appendSeconds, lagSeconds, deadReason }) => {
      metrics.appendSeconds.observe(appendSeconds);
      metrics.webhookLagSeconds.observe(lagSeconds);
      if (deadReason !== null) metrics.deadLetters.inc({ reason: deadReason });
    },
    onClockOffset: (seconds) => metrics.webhookClockOffset.set(seconds),
  });
}
