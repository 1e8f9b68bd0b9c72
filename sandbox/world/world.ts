import type { Order } from '../orders/order.ts';
import { type Catalogue, createCatalogue, type LabTest } from './catalogue.ts';
import { seededUuid } from './ids.ts';
import type { LabAccount } from './lab-accounts.ts';
import type { WorldState } from './state.ts';
import { isLiving, type User } from './users.ts';

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

/** The lab test of the catalogue with this id, if there is one. */
export function findLabTest({ catalogue }: World, labTestId: string): LabTest | undefined {
  return catalogue.labTests.find((labTest) => labTest.id === labTestId.toLowerCase());
}

/** The lab tests of the catalogue, and those made for the order set of one order. */
export function labTestsOf({ catalogue, state }: World): readonly LabTest[] {
  return [...catalogue.labTests, ...state.orders.flatMap((order) => order.generatedLabTest ?? [])];
}

/** The lab test of an order: one of the catalogue, or the one made for it. */
export function labTestOf({ catalogue }: World, order: Order): LabTest | undefined {
  return order.generatedLabTest ?? catalogue.labTests.find((each) => each.id === order.labTestId);
}

/** The org's lab accounts, with the teams that may use each of them now. */
export function labAccountsOf({ catalogue, state }: World): readonly LabAccount[] {
  return catalogue.labAccounts.map((account) => ({
    ...account,
    team_id_allowlist: state.management.accountTeams[account.id] ?? account.team_id_allowlist,
  }));
}

/** The lab accounts that the team may use. */
export function ownLabAccounts(world: World): readonly LabAccount[] {
  return labAccountsOf(world).filter(({ team_id_allowlist }) => team_id_allowlist.includes(world.teamId));
}
