import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../service.ts';
import { advance, presentJob } from './job.ts';
import type { LabReportJob } from './state.ts';

/** How long reading and reviewing a report take, in real time. */
const stepMs = 2000;

/** Sends `lab_report.parsing_job.created` or `.updated` for the job as it is now. */
export function announceJob({ world, announcer }: Service, job: LabReportJob): void {
  const eventType = `lab_report.parsing_job.${job.status === 'started' ? 'created' : 'updated'}`;
  announcer.send(eventType, presentJob(world, job), { userId: job.userId });
}

/** Takes the job to its end, step by step, with a webhook for each. */
export async function liveOn(service: Service, job: LabReportJob): Promise<void> {
  const { closing, speed, save } = service;
  for (;;) {
    await sleep(stepMs / speed, undefined, { signal: closing, ref: false }).catch(() => undefined);
    if (closing.aborted || !advance(job)) return;
    announceJob(service, job);
    await save();
  }
}
