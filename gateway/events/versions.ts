import type { EventLog, Latest, StoredEvent } from './log.ts';

/** The newest versions that the log has of its subjects. */
export interface Versions {
  /** The highest version of a subject, as `EventLog.latest`. */
  readonly latest: (subject: string) => Promise<Latest | null>;
  /** The event of the highest version; null where it was received longer ago than this, or cannot be read. */
  readonly readLatest: (subject: string, latest: Latest, maxAgeMs: number) => Promise<StoredEvent | null>;
}

export function createVersions(log: EventLog): Versions {
  return {
    latest: (subject) => log.latest(subject),
    readLatest: async (subject, { position }, maxAgeMs) => {
      const batch = await log.read({ subject, changesOnly: true }, position - 1, 1);
      const event = batch.kind === 'events' ? batch.events[0] : undefined;
      if (event?.position !== position) return null;
      return event.receivedAt.getTime() >= Date.now() - maxAgeMs ? event : null;
    },
  };
}
