import type { Config } from '../config.ts';
import type { Reading } from './reading.ts';

/** Names what several processes cannot share. */
export function refuseLoneParts(reading: Reading, { workers, eventLog, service }: Config): void {
  if (eventLog.kind !== 'redis' && !reading.hasFault('EVENT_LOG')) {
    reading.fault(
      `WORKERS=${workers} needs EVENT_LOG=redis://<host>:<port>: several processes write one log, and only Redis takes several writers.`,
    );
  }
  if (service.kind === 'embedded') {
    reading.fault(
      `WORKERS=${workers} needs SERVICE_URL: the embedded sandbox lives in one process. npm run sandbox starts one beside them.`,
    );
  }
}
