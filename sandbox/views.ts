import { currentStatus } from './orders/order.ts';
import type { CollectionMethod } from './orders/states.ts';
import { livingUsers, type World } from './world/world.ts';

/** A user as tests and the demo need it. */
export interface UserView {
  readonly userId: string;
  readonly clientUserId: string;
  readonly hasDemographics: boolean;
}

/** An order as tests and the demo need it; the status is that of its last event. */
export interface OrderView {
  readonly orderId: string;
  readonly userId: string;
  readonly method: CollectionMethod;
  readonly status: string;
}

/** A lab test as tests and the demo need it. */
export interface LabTestView {
  readonly labTestId: string;
  readonly name: string;
  readonly method: CollectionMethod;
}

/** Small read-only views of the world as it is at the call. */
export function viewsOf({ state, catalogue }: World) {
  return {
    users: (): readonly UserView[] =>
      livingUsers({ state }).map(({ id, clientUserId, demographics }) => ({
        userId: id,
        clientUserId,
        hasDemographics: demographics !== null,
      })),
    orders: (): readonly OrderView[] =>
      state.orders.map((order) => ({
        orderId: order.id,
        userId: order.userId,
        method: order.method,
        status: currentStatus(order),
      })),
    labTests: (): readonly LabTestView[] =>
      catalogue.labTests.map(({ id, name, method }) => ({ labTestId: id, name, method })),
  };
}
