import { healthFactsOf } from '../domain/health-data/actions.ts';
import { versionOfLabReport } from '../domain/lab-report/rest.ts';
import { versionOfOrder } from '../domain/order/read/rest-order.ts';
import { firstSubject } from '../webhooks/envelope.ts';

/** What the concepts know of events: of what they are new versions, and what they state. One list for all who read. */
export const readers = {
  subjectOf: firstSubject([versionOfOrder, versionOfLabReport]),
  factsOf: healthFactsOf,
} as const;

/** The name under which the log stores the learned team, for commands that replay. */
export const teamMark = 'team';
