import type { GraphQLSchema } from 'graphql';
import './scalars.ts';
import '../domain/viewer/graph.ts';
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
import '../domain/order/mutations.ts';
import '../domain/order/subscriptions.ts';
import '../domain/order/service-events.ts';
import '../domain/result/graph.ts';
import '../domain/result/mutations.ts';
import '../domain/result/service-events.ts';
import '../domain/portal/graph.ts';
import '../domain/lab-report/graph.ts';
import '../domain/lab-report/mutations.ts';
import '../domain/lab-report/service-events.ts';
import { builder } from './builder.ts';

/** The whole graph. One line above per concept: taking it away takes the concept out of the schema. */
export const schema: GraphQLSchema = builder.toSchema();
