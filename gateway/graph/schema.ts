import type { GraphQLSchema } from 'graphql';
import './scalars.ts';
import '../domain/viewer/graph.ts';
import '../domain/viewer/revoke.ts';
import '../domain/user/graph.ts';
import '../domain/user/demographics-graph.ts';
import '../domain/user/connections-graph.ts';
import '../domain/user/mutations.ts';
import '../domain/lab-account/graph.ts';
import '../domain/marker/graph.ts';
import '../domain/marker/questions-graph.ts';
import '../domain/marker/same-loinc.ts';
import '../domain/lab-test/graph.ts';
import '../domain/service-event/graph.ts';
import '../domain/order/graph.ts';
import '../domain/order/list-graph.ts';
import '../domain/order/transaction-graph.ts';
import '../domain/order/billing-graph.ts';
import '../domain/order/mutations.ts';
import '../domain/order/placing-graph.ts';
import '../domain/order/upkeep-graph.ts';
import '../domain/order/subscriptions.ts';
import '../domain/order/service-events.ts';
import '../domain/appointment/graph.ts';
import '../domain/appointment/places-graph.ts';
import '../domain/appointment/availability-graph.ts';
import '../domain/appointment/mutations.ts';
import '../domain/appointment/service-events.ts';
import '../domain/result/graph.ts';
import '../domain/result/mutations.ts';
import '../domain/result/service-events.ts';
import '../domain/portal/graph.ts';
import '../domain/portal/ticket-graph.ts';
import '../domain/lab-report/graph.ts';
import '../domain/lab-report/mutations.ts';
import '../domain/lab-report/service-events.ts';
import '../domain/health-data/graph.ts';
import '../domain/health-data/service-events.ts';
import { builder } from './builder.ts';
import { tellUnknowns } from './drift.ts';
import { requireScopes } from './needs-scope.ts';
import { resumeFromLastEventId } from './resume.ts';
import { meterFields } from './work.ts';

/** The whole graph. One line above per concept: taking it away takes the concept out of the schema. */
export const schema: GraphQLSchema = meterFields(
  requireScopes(resumeFromLastEventId(tellUnknowns(builder.toSchema()))),
);
