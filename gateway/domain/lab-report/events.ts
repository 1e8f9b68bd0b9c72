import { builder } from '../../graph/builder.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { labReportRef } from './graph.ts';
import { readLabReport } from './rest.ts';

const typename = 'LabReportChanged';

claimServiceEvents(
  typename,
  (event) => event.type.startsWith('lab_report.parsing_job.') && readLabReport(event.payload, null) !== null,
);

builder.objectRef<ServiceEvent>(typename).implement({
  description: 'A lab report was uploaded, read or reviewed.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    labReport: t.field({
      type: labReportRef,
      description: 'The report as the service reported it.',
      resolve: (event) => readLabReport(event.payload, event.userId),
    }),
  }),
});
