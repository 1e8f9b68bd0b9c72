import { emptyAppointments } from '../appointments/state.ts';
import { createOrders } from '../orders/seeded-orders.ts';
import { createUsers } from './users.ts';
import { createWorld, type WorldState } from './world.ts';

/** The invented people, orders and lab tests of one seed: equal seeds make equal worlds. */
export function createState(seed: number): WorldState {
  const counters = { events: 0, orders: 0, messages: 0 };
  const users = createUsers(seed);
  const lists = { orders: [], labReports: [], portalLinks: [], outbox: [], replies: [] };
  const state = { version: 1 as const, seed, users, ...lists, ...emptyAppointments(), counters };
  state satisfies WorldState;
  const world = createWorld(state);
  world.state.orders.push(...createOrders(world));
  return state;
}
