// biome-ignore-all lint/performance/noBarrelFile: one place for what the tests know of orders
import { type FakeOrder, fakeOrder } from '../../../widget/src/testing/fake-order.ts';

export {
  FAKE_ORDER_ID as ORDER_ID,
  type FakeOrder as WireOrder,
  type FakeOrderEvent as WireEvent,
  fakeOrder as wireOrder,
  fakeStatus as wireStatus,
} from '../../../widget/src/testing/fake-order.ts';

/** The way of a test kit that has to be registered; its stages go back once. */
export const REGISTRABLE_KIT = [
  ['RECEIVED', 'ordered'],
  ['RECEIVED', 'awaiting_registration'],
  ['COLLECTING_SAMPLE', 'transit_customer'],
  ['COLLECTING_SAMPLE', 'with_customer'],
  ['RECEIVED', 'registered'],
  ['COLLECTING_SAMPLE', 'transit_lab'],
  ['SAMPLE_WITH_LAB', 'delivered_to_lab'],
  ['COMPLETED', 'completed'],
] as const;

/** That order after its first `count` events. */
export function kitAfter(count: number): FakeOrder {
  return fakeOrder(REGISTRABLE_KIT.slice(0, count));
}
