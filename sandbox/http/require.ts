import { z } from 'zod';
import type { Order } from '../orders/order.ts';
import type { LabTest } from '../world/catalogue.ts';
import type { User } from '../world/users.ts';
import { findLabTest, findOrder, findUser, type World } from '../world/world.ts';
import { refuse } from './refusal.ts';

/** The user with this id. @throws Refusal 404 */
export function requireUser(world: World, userId: string): User {
  const user = findUser(world, userId);
  if (!user) throw refuse(404, 'User not found');
  return user;
}

/**
 * The user whose id is in the path. A malformed one is refused with a plain sentence, unlike every other path
 * parameter (public service).
 * @throws Refusal 404, 422
 */
export function requireUserOfPath(world: World, userId: string): User {
  if (!z.guid().safeParse(userId).success) throw refuse(422, 'The user id is not a valid UUID.');
  return requireUser(world, userId);
}

/** The order with this id. @throws Refusal 404 in the words of the public service */
export function requireOrder(world: World, orderId: string): Order {
  const order = findOrder(world, orderId);
  if (!order) throw refuse(404, "This order doesn't exist");
  return order;
}

/** The lab test of the catalogue with this id. @throws Refusal 404 */
export function requireLabTest(world: World, labTestId: string): LabTest {
  const labTest = findLabTest(world, labTestId);
  if (!labTest) throw refuse(404, 'Lab test does not exist');
  return labTest;
}
