import { healthFactsOf } from '../domain/health-data/rest-facts.ts';
import { versionOfLabReport } from '../domain/lab-report/rest.ts';
import { versionOfOrder } from '../domain/order/read/rest-order.ts';
import { firstSubject } from '../webhooks/envelope.ts';

/** What the concepts know of events: of what they are new versions, and what they state. One list for all who read. */
export const readers = {
  subjectOf: firstSubject([versionOfOrder, versionOfLabReport]),
  factsOf: healthFactsOf,
} as const;

/** The mark of the log under which a gateway keeps the team it has learned, for commands that read again. */
export const teamMark = 'team';
