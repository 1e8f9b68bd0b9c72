import { GatewayError } from '../../errors.ts';
import type { Appended, NewMessage } from '../log.ts';
import type { WriterThread } from './writer-client.ts';

/** Messages per transaction at most: what one fsync is shared by, and how long one may hold up the next. */
const maxGroup = 500;

export interface Appends {
  readonly add: (message: NewMessage) => Promise<Appended>;
  /** Whether something is with the writer, or about to be: its answer is yet to be heard. */
  readonly areUnderWay: () => boolean;
  /** Settles when the group that is with the writer now has been heard of, or has failed. Never rejects. */
  readonly settled: () => Promise<void>;
  /** The same for all that was added. */
  readonly finish: () => Promise<void>;
}

export interface Hearing {
  /** Told of each group first: where the log ended before it, which is elsewhere than expected after others' appends. */
  readonly onFollows: (end: number) => void;
  /** Told of each message before it is acknowledged. */
  readonly onAppended: (message: NewMessage, appended: Appended) => void;
}

interface Pending {
  readonly message: NewMessage;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** Groups appends: at most one group is with the writer, and what comes meanwhile is the next. */
export function createAppends(writer: WriterThread, hearing: Hearing): Appends {
  const pending: Pending[] = [];
  let writing: Promise<void> | null = null;
  let group = Promise.resolve();

  const writeAll = async () => {
    // What else this turn of the event loop appends joins the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      group = writeGroup(writer, hearing, pending.splice(0, maxGroup));
      await group;
    }
    writing = null;
  };
  return {
    add: (message) =>
      new Promise((resolve, reject) => {
        pending.push({ message, resolve, reject });
        writing ??= writeAll();
      }),
    areUnderWay: () => writing !== null,
    settled: () => group,
    finish: async () => {
      await writing;
    },
  };
}

async function writeGroup(
  writer: WriterThread,
  { onFollows, onAppended }: Hearing,
  group: readonly Pending[],
): Promise<void> {
  try {
    const messages = group.map(({ message }) => message);
    const { follows, appended } = await writer.call('append', messages);
    onFollows(follows);
    for (const [index, { message, resolve, reject }] of group.entries()) {
      const result = appended[index] ?? null;
      if (result === null) {
        reject(new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event cannot be stored as it is.'));
        continue;
      }
      onAppended(message, result);
      resolve(result);
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
