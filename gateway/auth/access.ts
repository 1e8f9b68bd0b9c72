import { type Rights, scopesOfUser } from '../service/service.ts';
import type { Caller } from './caller.ts';

/**
 * What a caller may see and do, in the form that reads and streams ask for it. Denies by default. A token that is
 * limited to some orders is for these orders and what hangs on them: it has no scope for anything else of its user,
 * whatever it names, and of its user's row only whom the token is for (domain/user/rest.ts).
 */
export function createRights(caller: Caller): Rights {
  if (caller.kind === 'TEAM') {
    return { key: 'team', allows: () => true, owns: () => true, userId: null, orderIds: null };
  }
  const { userId, orderIds, scopes } = caller;
  return {
    key: `user:${userId}:${orderIds === null ? '*' : orderIds.toSorted().join(',')}`,
    userId,
    orderIds,
    allows: (scope) => scopes.includes(scope) && (orderIds === null || !scopesOfUser.includes(scope)),
    owns: (subject) =>
      subject.userId?.toLowerCase() === userId &&
      (orderIds === null || !subject.orderId || orderIds.includes(subject.orderId.toLowerCase())),
  };
}
