/**
 * What a field costs that asks the service once for each row it stands in, in the measure of edge/guards.ts, where a
 * plain field costs 1.
 */
export const upstreamCallCost = 100;
