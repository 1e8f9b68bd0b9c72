import type { AppointmentState } from '../appointments/state.ts';
import type { Refusal } from '../http/refusal.ts';
import type { LabReportJob } from '../lab-reports/state.ts';
import type { Order } from '../orders/order.ts';
import { type Catalogue, createCatalogue, type LabTest } from './catalogue.ts';
import { seededUuid } from './ids.ts';
import { isLiving, type User } from './users.ts';

/** A pre-authorized link into the portal (specification: portal URL). */
export interface PortalLink {
  readonly path: string;
  readonly orderId: string | null;
  readonly expiresAt: number;
}

/** A webhook message that is not delivered yet; its body is fixed, so that a retry sends the same bytes. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly eventType: string;
  readonly orderId: string | null;
  readonly body: string;
}

/** The first answer to a request with an idempotency key. */
interface StoredReply {
  readonly key: string;
  readonly at: number;
  readonly status: Refusal['status'] | 200;
  readonly body: unknown;
}

/** Everything that changes and is stored in the state file. */
export interface WorldState extends AppointmentState {
  readonly version: 1;
  readonly seed: number;
  readonly users: User[];
  readonly orders: Order[];
  readonly labReports: LabReportJob[];
  readonly portalLinks: PortalLink[];
  readonly outbox: OutgoingMessage[];
  readonly replies: StoredReply[];
  /** How many there have been; the next one takes the next ordinal. */
  readonly counters: { events: number; orders: number; messages: number };
}

/** The service's whole state, and the catalogue that follows from its seed. */
export interface World {
  readonly state: WorldState;
  readonly catalogue: Catalogue;
  readonly teamId: string;
}

/** Completes a state, new or read from a file, with what follows from its seed. */
export function createWorld(state: WorldState): World {
  return { state, catalogue: createCatalogue(state.seed), teamId: seededUuid(state.seed, 'team', 0) };
}

/** The latest time anything in the state happened, in epoch milliseconds. */
export function latestTime(state: WorldState): number {
  const times = state.orders.map((order) => order.updatedAt);
  return Math.max(...times, ...state.users.map((user) => user.createdAt));
}

/** The users that are there, oldest first: deleted ones are nowhere. */
export function livingUsers({ state }: Pick<World, 'state'>): readonly User[] {
  return state.users.filter(isLiving);
}

/** The user with this id, if there is one. */
export function findUser(world: World, userId: string): User | undefined {
  return livingUsers(world).find((user) => user.id === userId.toLowerCase());
}

/** The order with this id, if there is one. */
export function findOrder(world: World, orderId: string): Order | undefined {
  return world.state.orders.find((order) => order.id === orderId.toLowerCase());
}

/** The lab tests of the catalogue, and those made for the order set of one order. */
export function labTestsOf({ catalogue, state }: World): readonly LabTest[] {
  return [...catalogue.labTests, ...state.orders.flatMap((order) => order.generatedLabTest ?? [])];
}

/** The lab test of an order: one of the catalogue, or the one made for it. */
export function labTestOf({ catalogue }: World, order: Order): LabTest | undefined {
  return order.generatedLabTest ?? catalogue.labTests.find((each) => each.id === order.labTestId);
}
