/** How much is measured. */
export interface Plan {
  readonly store: 'sqlite' | 'redis';
  /** Events in the log before delivery is measured: what a subscriber can be behind. */
  readonly logEvents: number;
  /** Webhooks posted one after the other. */
  readonly alone: number;
  readonly concurrency: number;
  readonly restarts: number;
  readonly subscribers: number;
  readonly webhooksPerSecond: number;
  /** Where each subscriber follows an order of its own, and every order changes in turn. */
  readonly ownPerSecond: number;
  /** Beside servers that publish in memory, over the store that is the default. */
  readonly hasPeers: boolean;
  readonly warmUpSeconds: number;
  readonly steadySeconds: number;
  readonly fanOuts: number;
  readonly floodSeconds: number;
  readonly idleSockets: number;
  /** The reads of an opening stream are cached for 10 s (READ_CACHE_SECONDS). They are not the socket's memory. */
  readonly forgettingSeconds: number;
}

const full: Omit<Plan, 'store'> = {
  logEvents: 100_000,
  alone: 1000,
  concurrency: 64,
  restarts: 10,
  subscribers: 1000,
  webhooksPerSecond: 100,
  ownPerSecond: 500,
  hasPeers: true,
  warmUpSeconds: 5,
  steadySeconds: 30,
  fanOuts: 50,
  floodSeconds: 10,
  idleSockets: 10_000,
  forgettingSeconds: 11,
};

/** Whether the command works, not how fast the gateway is: too few samples for that. */
const short: Omit<Plan, 'store'> = {
  logEvents: 1500,
  alone: 100,
  concurrency: 64,
  restarts: 1,
  subscribers: 100,
  webhooksPerSecond: 100,
  ownPerSecond: 100,
  hasPeers: false,
  warmUpSeconds: 0.5,
  steadySeconds: 1,
  fanOuts: 2,
  floodSeconds: 1,
  idleSockets: 200,
  forgettingSeconds: 0,
};

export function makePlan(store: Plan['store'], isShort: boolean): Plan {
  const plan = isShort ? short : full;
  return { store, ...plan, hasPeers: plan.hasPeers && store === 'sqlite' };
}

/** Descriptors that one process needs: a socket each, and room for files, threads and webhooks. */
export function descriptorsNeeded(plan: Plan): number {
  return plan.idleSockets + 500;
}
