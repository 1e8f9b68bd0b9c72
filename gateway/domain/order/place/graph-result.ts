import { builder } from '../../../graph/builder.ts';
import {
  featureNotEnabledRef,
  idempotencyConflictRef,
  inputRejectedRef,
  notFoundRef,
  userErrorRef,
} from '../../../graph/mutation-result.ts';
import { orderRef } from '../read/graph.ts';
import type { TestkitRegistered } from '../register/actions.ts';
import type { OrderCreated, PhysicianRequired } from './actions.ts';

const orderCreatedRef = builder.objectRef<OrderCreated>('OrderCreated').implement({
  description: 'The order was placed.',
  fields: (t) => ({
    order: t.expose('order', {
      type: orderRef,
      nullable: false,
      description: 'The order as the service answered it.',
    }),
    serviceStatus: t.exposeString('serviceStatus', {
      description: "The service's own word for how it went.",
    }),
    serviceMessage: t.exposeString('serviceMessage', { description: "The service's own sentence about it." }),
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Give it to orderUpdates as `after` to see every change from here on.',
    }),
  }),
});

const physicianRequiredRef = builder.objectRef<PhysicianRequired>('PhysicianRequired').implement({
  description:
    "The lab account is one on which the team's own physicians answer for orders, and none was named.",
  interfaces: [userErrorRef],
});

export const createOrderResult = builder.unionType('CreateOrderResult', {
  description: 'What came of placing an order.',
  types: [
    orderCreatedRef,
    inputRejectedRef,
    idempotencyConflictRef,
    physicianRequiredRef,
    notFoundRef,
    featureNotEnabledRef,
  ],
  resolveType: (result) => result.kind,
});

const testkitRegisteredRef = builder.objectRef<TestkitRegistered>('TestkitRegistered').implement({
  description: 'The kit is registered.',
  fields: (t) => ({
    order: t.expose('order', {
      type: orderRef,
      nullable: false,
      description: 'The order as it is now; its user is the one the kit was registered to.',
    }),
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Give it to orderUpdates as `after` to see every change from here on.',
    }),
  }),
});

export const registerTestkitResult = builder.unionType('RegisterTestkitResult', {
  description: 'What came of registering a kit.',
  types: [testkitRegisteredRef, inputRejectedRef, physicianRequiredRef, notFoundRef, featureNotEnabledRef],
  resolveType: (result) => result.kind,
});
