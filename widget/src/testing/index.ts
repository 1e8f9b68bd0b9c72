// biome-ignore-all lint/performance/noBarrelFile: the entry `@labgraph/widget/testing`
export { type FakeAnswer, gatewayError, launchTicket, portalRefused, portalUrl } from './answers.ts';
export { createFakeGateway, type FakeGateway, type FakeOperation, type FakeRequest } from './fake-gateway.ts';
export {
  FAKE_ORDER_ID,
  type FakeOrder,
  type FakeOrderEvent,
  type FakeStatus,
  fakeOrder,
  fakeStatus,
} from './fake-order.ts';
export { type FakeResults, fakeBiomarker, fakeResults } from './fake-results.ts';
