import { healthFactsOf } from '../domain/health-data/actions.ts';
import { versionOfLabReport } from '../domain/lab-report/rest.ts';
import { versionOfOrder } from '../domain/order/read/rest-order.ts';
import { firstSubject } from '../webhooks/envelope.ts';

/**
 * The concepts' readers of events: the subject of which an event is a new version, and the facts that it states. One
 * list for all users.
 */
export const readers = {
  subjectOf: firstSubject([versionOfOrder, versionOfLabReport]),
  factsOf: healthFactsOf,
} as const;

/** The name under which the log stores the learned team, for commands that replay. */
export const teamMark = 'team';
