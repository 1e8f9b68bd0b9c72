import type { Hono } from 'hono';

/** Whether the gateway can work: each part by name. */
export interface Readiness {
  readonly eventLog: boolean;
  readonly service: boolean;
  /** Whether the service has answered since the start. An instance that was never able to work must replace no other. */
  readonly hasWorked: boolean;
  /** Null without a broker. */
  readonly broker: boolean | null;
  /** Null without an audit trail. */
  readonly auditTrail: boolean | null;
}

export interface ProbesOptions {
  readonly checkReady: () => Promise<Readiness>;
  /** Whether the gateway is about to stop: it still answers, and should get nothing new. */
  readonly isStopping: () => boolean;
}

const problems = {
  eventLog: 'The event log cannot be written: webhooks are answered with 503 and come again.',
  service:
    'The service does not give its lists of users and orders: it is away, or SERVICE_API_KEY or SERVICE_ORDERS_PATH is wrong.',
  stopping: 'The gateway is stopping.',
  broker:
    'Events are not consumed: the broker does not answer, refuses the credentials or has no such queue, or the event log cannot be written.',
  auditTrail: 'The audit trail cannot be written: accesses wait in memory.',
} as const;

export function addProbes(app: Hono, { checkReady, isStopping }: ProbesOptions): void {
  app.get('/health', (context) => context.json({ status: 'ok' }));
  app.get('/ready', async (context) => {
    const answer = describeReadiness(await checkReady(), isStopping());
    return context.json(answer, answer.status === 'not ready' ? 503 : 200);
  });
}

/**
 * An instance is not ready if it cannot serve and another one can. Event log and service are the same for all instances, so
 * without them an instance is degraded: a 503 would take all of them out at once (decision 0118).
 */
function describeReadiness(readiness: Readiness, isStopping: boolean) {
  const { eventLog, service, hasWorked, broker, auditTrail } = readiness;
  const found = [
    ...(eventLog ? [] : [problems.eventLog]),
    ...(service ? [] : [problems.service]),
    ...(isStopping ? [problems.stopping] : []),
    ...(broker === false ? [problems.broker] : []),
    ...(auditTrail === false ? [problems.auditTrail] : []),
  ];
  const whole = eventLog && service ? 'ready' : 'degraded';
  return {
    status: isStopping || !hasWorked ? 'not ready' : whole,
    ...{ eventLog, service },
    ...(broker === null ? {} : { broker }),
    ...(auditTrail === null ? {} : { auditTrail }),
    problems: found,
  };
}
