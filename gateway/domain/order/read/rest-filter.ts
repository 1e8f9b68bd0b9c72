import type { PageRequest } from '../../marker/rest.ts';
import type { Order } from './rest-order.ts';
import { readOrderStatus } from './rest-status.ts';

/** Which orders; every part is optional and all must match. */
export interface OrderFilter {
  readonly userId?: string | null | undefined;
  readonly orderIds?: readonly string[] | null | undefined;
  readonly transactionId?: string | null | undefined;
  /** `normal`, `abnormal`, `critical`, or any value that the service adds. */
  readonly interpretation?: string | null | undefined;
  /** Low-level statuses such as `transit_customer`; one of them must be the order's. */
  readonly statuses?: readonly string[] | null | undefined;
  readonly methods?: readonly string[] | null | undefined;
  /** `current` or `scheduled`. */
  readonly activations?: readonly string[] | null | undefined;
  readonly createdAfter?: Date | null | undefined;
  readonly createdBefore?: Date | null | undefined;
  readonly updatedAfter?: Date | null | undefined;
  readonly updatedBefore?: Date | null | undefined;
  readonly search?: string | null | undefined;
}

/** A page of orders. */
export interface OrderRange extends PageRequest {
  /** Only orders placed by the end of this millisecond. A service may ignore it and send later ones too. */
  readonly until?: Date | null;
}

/** Instants always carry their time: a bare day would mean another end for creation than for updates. */
export function queryOf(filter: OrderFilter) {
  return {
    order_transaction_id: filter.transactionId,
    interpretation: filter.interpretation,
    status: filter.statuses,
    order_type: filter.methods,
    order_activation_types: filter.activations,
    start_date: filter.createdAfter?.toISOString(),
    updated_start_date: filter.updatedAfter?.toISOString(),
    updated_end_date: endOf(filter.updatedBefore),
    search_input: filter.search,
  };
}

/** Where each parameter of the service comes from, in the names of the graph. */
export const filterNames = {
  order_transaction_id: 'filter.transactionId',
  interpretation: 'filter.interpretationRaw',
  status: 'filter.stepsRaw',
  order_type: 'filter.collectionMethodsRaw',
  order_activation_types: 'filter.activations',
  start_date: 'filter.createdAfter',
  end_date: 'filter.createdBefore',
  updated_start_date: 'filter.updatedAfter',
  updated_end_date: 'filter.updatedBefore',
  search_input: 'filter.search',
};

/** The last microsecond of the millisecond: the service compares microseconds, and a DateTime has milliseconds. */
function endOf(instant: Date | null | undefined): string | undefined {
  return instant?.toISOString().replace('Z', '999Z');
}

/** The latest time of creation (`end_date`): the filter's own, or the bound of a page if that is earlier. */
export function lastInstant(
  createdBefore: Date | null | undefined,
  until: Date | null | undefined,
): string | undefined {
  return endOf(!until || (createdBefore && createdBefore <= until) ? createdBefore : until);
}

/**
 * Whether an order fits the filter, for a service that ignores filters. A property that the order does not show counts
 * as fitting; `search` and `activations` are left to the service.
 */
export function fits(order: Order, filter: OrderFilter): boolean {
  const { userId, orderIds, interpretation, transactionId } = filter;
  return (
    (!userId || order.userId.toLowerCase() === userId) &&
    (!orderIds || orderIds.includes(order.id.toLowerCase())) &&
    isSame(order.interpretation, interpretation) &&
    isSame(order.transaction?.id, transactionId) &&
    isAtStep(order.status, filter.statuses) &&
    isOneOf(order.method, filter.methods) &&
    isWithin(order.createdAt, filter.createdAfter, filter.createdBefore) &&
    isWithin(order.updatedAt, filter.updatedAfter, filter.updatedBefore)
  );
}

/** A step may have two names (docs/service.md 23). Either matches. */
function isAtStep(status: string, wanted: readonly string[] | null | undefined): boolean {
  return isOneOf(status.split('.')[2], wanted) || isOneOf(readOrderStatus(status).step ?? '-', wanted);
}

function isSame(shown: string | null | undefined, wanted: string | null | undefined): boolean {
  return !wanted || !shown || shown.toLowerCase() === wanted.toLowerCase();
}

function isOneOf(shown: string | null | undefined, wanted: readonly string[] | null | undefined): boolean {
  return !wanted || !shown || wanted.some((value) => value.toLowerCase() === shown.toLowerCase());
}

function isWithin(shown: Date | null, from: Date | null | undefined, to: Date | null | undefined): boolean {
  return shown === null || ((!from || shown >= from) && (!to || shown <= to));
}
