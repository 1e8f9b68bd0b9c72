/** What may be in hand at once: received, and neither durable nor refused yet. */
const limits = { messages: 1000, bytes: 64 * 1024 * 1024 } as const;

/** One request's part of what is in hand. */
export interface Holding {
  /** Aborts when the body must give up its place because it is not there yet while others wait for room. */
  readonly evicted: AbortSignal;
  /** Counts bytes that have come; false when there is no room for them. */
  readonly add: (bytes: number) => boolean;
  /** The body is whole: it is not evicted any more. False when it was, or when too many messages are in hand. */
  readonly complete: () => boolean;
  /** It is durable, or refused. */
  readonly end: () => void;
}

/** A body that may come. */
export interface Intake {
  /** Who shares in the room with all others, such as an address. */
  readonly sender: string;
  /** 0 when it does not say. */
  readonly announcedBytes: number;
}

/**
 * Bounds what webhooks take of the process, so that a flood of them leaves room for everything else. Bytes count
 * as they come and messages when they are whole. Where there is no room for more bytes, a body that is not whole yet
 * gives up its place: the oldest of the sender that holds most. So whoever sends slowly, or sends most, loses first,
 * and a genuine message, which is whole within a moment, finds room. Only whole messages turn newcomers away.
 * @returns begins a request; null when whole messages leave no room for it, before anything is read
 */
export function createIntakeBound(): (intake: Intake) => Holding | null {
  const bound = new IntakeBound();
  return (intake) => bound.begin(intake);
}

class IntakeBound {
  #messages = 0;
  #wholeBytes = 0;
  #bytes = 0;
  readonly #senders = new Map<string, Sender>();

  begin({ sender, announcedBytes }: Intake): Holding | null {
    if (this.#messages >= limits.messages || this.#wholeBytes + announcedBytes > limits.bytes) return null;
    const body: UnfinishedBody = { sender, bytes: 0, eviction: new AbortController() };
    let isWhole = false;
    return {
      evicted: body.eviction.signal,
      add: (count) => this.#add(body, count),
      complete: () => {
        if (body.eviction.signal.aborted || this.#messages >= limits.messages) return false;
        this.#forget(body);
        this.#messages += 1;
        this.#wholeBytes += body.bytes;
        isWhole = true;
        return true;
      },
      end: () => {
        if (!isWhole) {
          this.#release(body);
          return;
        }
        isWhole = false;
        this.#messages -= 1;
        this.#wholeBytes -= body.bytes;
        this.#bytes -= body.bytes;
      },
    };
  }

  #add(body: UnfinishedBody, count: number): boolean {
    if (body.eviction.signal.aborted || this.#wholeBytes + count > limits.bytes) return false;
    const sender = this.#senders.get(body.sender) ?? { bytes: 0, bodies: new Set() };
    this.#senders.set(body.sender, sender);
    sender.bodies.add(body);
    body.bytes += count;
    sender.bytes += count;
    this.#bytes += count;
    while (this.#bytes > limits.bytes) this.#evictOne();
    return !body.eviction.signal.aborted;
  }

  /** The oldest body of the sender that holds most; there is one, because whole messages leave room. */
  #evictOne(): void {
    let heaviest: Sender | null = null;
    for (const sender of this.#senders.values())
      if (heaviest === null || sender.bytes > heaviest.bytes) heaviest = sender;
    const [oldest] = heaviest?.bodies ?? [];
    if (oldest === undefined) throw new Error('More bytes are in hand than bodies hold.');
    this.#release(oldest);
    oldest.eviction.abort();
  }

  #release(body: UnfinishedBody): void {
    if (this.#forget(body)) this.#bytes -= body.bytes;
  }

  /** @returns whether it was among the unfinished ones */
  #forget(body: UnfinishedBody): boolean {
    const sender = this.#senders.get(body.sender);
    if (!sender?.bodies.delete(body)) return false;
    sender.bytes -= body.bytes;
    if (sender.bodies.size === 0) this.#senders.delete(body.sender);
    return true;
  }
}

interface UnfinishedBody {
  readonly sender: string;
  bytes: number;
  readonly eviction: AbortController;
}

/** What a sender's unfinished bodies hold. A set goes through them in the order in which they began. */
interface Sender {
  bytes: number;
  readonly bodies: Set<UnfinishedBody>;
}
