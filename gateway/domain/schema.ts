import type { GraphQLSchema } from 'graphql';
import './viewer/graph.ts';
import './user/graph.ts';
import './user/graph-demographics.ts';
import './user/graph-connections.ts';
import './user/graph-mutations.ts';
import './lab-account/graph.ts';
import './marker/graph.ts';
import './lab-test/graph.ts';
import './service-event/graph.ts';
import './order/read/graph.ts';
import './order/read/graph-list.ts';
import './order/read/graph-parts.ts';
import './order/place/graph.ts';
import './order/register/graph.ts';
import './order/update/graph.ts';
import './order/stream/graph.ts';
import './appointment/graph.ts';
import './appointment/graph-places.ts';
import './appointment/graph-availability.ts';
import './appointment/graph-mutations.ts';
import './appointment/events.ts';
import './result/graph.ts';
import './portal/graph.ts';
import './lab-report/graph.ts';
import './health-data/graph.ts';
import './health-data/events.ts';
import { builder } from '../graph/builder.ts';
import { meterFields } from '../graph/cost.ts';
import { clearLoaders, refuseMalformedIds } from '../graph/mutation-result.ts';
import { requirePermissions } from '../graph/permissions.ts';

/** The whole graph. One line above per concept: taking it away takes the concept out of the schema. */
export const schema: GraphQLSchema = meterFields(
  clearLoaders(refuseMalformedIds(requirePermissions(builder.toSchema()))),
);
