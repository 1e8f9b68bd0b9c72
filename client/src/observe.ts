import { LabgraphError } from './errors.ts';
import type { Updates } from './follow.ts';

type Data = Record<string, unknown>;

/** An answer as caches take it. */
interface Answer {
  readonly data: Data | null;
  readonly errors?: LabgraphError['errors'];
}

export interface Observer {
  readonly next: (answer: Answer) => void;
  readonly error: (error: unknown) => void;
  readonly complete: () => void;
}

/** Pushes the items to a cache. The gateway's errors are an answer, so that the cache shows them as its own. */
export async function observe(updates: Updates<Data>, observer: Observer): Promise<void> {
  try {
    for await (const data of updates) observer.next({ data });
  } catch (error) {
    if (!(error instanceof LabgraphError && error.errors.length > 0)) {
      observer.error(error);
      return;
    }
    observer.next({ data: null, errors: error.errors });
  }
  observer.complete();
}
