/** What may be in hand at once: received, and not yet durable or refused. */
const limits = { messages: 1000, bytes: 64 * 1024 * 1024 } as const;

/** One request's part of what is in hand. */
export interface Holding {
  /** Counts bytes that have come; false when they are too many. */
  readonly add: (bytes: number) => boolean;
  /** The message is whole; false when too many are. */
  readonly complete: () => boolean;
  /** It is durable, or refused. */
  readonly end: () => void;
}

/**
 * Bounds what webhooks take of the process, so that a flood of them leaves room for everything else. Bytes count
 * as they come and messages when they are whole: who opens many connections and sends little takes little.
 * @returns begins a request of which this much was announced; null when there is no room, before anything is read
 */
export function createIntakeBound(): (announcedBytes: number) => Holding | null {
  let messages = 0;
  let bytes = 0;
  return (announcedBytes) => {
    if (messages >= limits.messages || bytes + announcedBytes > limits.bytes) return null;
    let ownBytes = 0;
    let ownMessages = 0;
    return {
      add: (count) => {
        if (bytes + count > limits.bytes) return false;
        bytes += count;
        ownBytes += count;
        return true;
      },
      complete: () => {
        if (messages >= limits.messages) return false;
        messages += 1;
        ownMessages = 1;
        return true;
      },
      end: () => {
        bytes -= ownBytes;
        messages -= ownMessages;
        ownBytes = 0;
        ownMessages = 0;
      },
    };
  };
}
