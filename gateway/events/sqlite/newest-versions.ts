import type { Latest } from '../log.ts';

/** At about 300 bytes each: more orders than are shown between two changes of one of them, and at most 6 MB. */
const maxSubjects = 20_000;

export interface KeptLatest {
  /** What the file says of a subject, asked once: also that it says nothing. */
  readonly of: (subject: string) => Latest | null;
  readonly forget: (subject: string) => void;
  readonly forgetAll: () => void;
}

/**
 * Keeps the newest version of each subject that was asked for: a page of 100 orders asks for 100. Reading is one step
 * of this thread, so whatever is kept was in the file then, and a write that is heard of later is forgotten for then:
 * whoever hears of writes forgets before anybody is told.
 */
export function keepLatest(read: KeptLatest['of']): KeptLatest {
  const kept = new Map<string, Latest | null>();
  return {
    of: (subject) => {
      const known = kept.get(subject);
      if (known !== undefined) return known;
      const latest = read(subject);
      // All at once: whoever is asked for often is read again once, and nothing keeps count of who was asked for when.
      if (kept.size >= maxSubjects) kept.clear();
      kept.set(subject, latest);
      return latest;
    },
    forget: (subject) => void kept.delete(subject),
    forgetAll: () => kept.clear(),
  };
}
