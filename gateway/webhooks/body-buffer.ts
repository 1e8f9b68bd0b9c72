import { Readable } from 'node:stream';

/** Limits of the buffer: messages that are received, and neither durable nor refused yet. */
const limits = { messages: 1000, bytes: 64 * 1024 * 1024 } as const;

/** One request's part of the buffer. */
export interface Holding {
  /** Aborts when the body is evicted: it is incomplete, and others need the space. */
  readonly evicted: AbortSignal;
  /** Counts received bytes; false when the buffer has no space for them. */
  readonly add: (bytes: number) => boolean;
  /** Marks the body as complete, so that it cannot be evicted. False if it was evicted, or if the buffer has too many messages. */
  readonly complete: () => boolean;
  /** Releases the space, after the message is durable or refused. */
  readonly end: () => void;
}

/** A request whose body may be received. */
export interface IncomingBody {
  /** The sender that its bytes are counted for, such as an address. */
  readonly sender: string;
  /** 0 when the request does not announce a length. */
  readonly announcedBytes: number;
}

/**
 * Limits the memory of webhooks in progress. Bytes count as they are received, messages when they are complete. When the
 * buffer is full, an incomplete body is evicted: the oldest of the sender with the most bytes. So slow and large senders
 * lose first, and a genuine message, which completes quickly, finds space. New requests are refused only when complete
 * messages fill the buffer.
 * @returns starts a request; null when complete messages leave no space for it, before its body is read
 */
export function createBodyBuffer(): (body: IncomingBody) => Holding | null {
  const buffer = new BodyBuffer();
  return (body) => buffer.begin(body);
}

class BodyBuffer {
  #messages = 0;
  #wholeBytes = 0;
  #bytes = 0;
  readonly #senders = new Map<string, Sender>();

  begin({ sender, announcedBytes }: IncomingBody): Holding | null {
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

  /** Evicts the oldest body of the sender with the most bytes; there is one, because complete messages do not fill the buffer. */
  #evictOne(): void {
    let heaviest: Sender | null = null;
    for (const sender of this.#senders.values())
      if (heaviest === null || sender.bytes > heaviest.bytes) heaviest = sender;
    const [oldest] = heaviest?.bodies ?? [];
    if (oldest === undefined) throw new Error('The byte count is larger than the sum of the bodies.');
    this.#release(oldest);
    oldest.eviction.abort();
  }

  #release(body: UnfinishedBody): void {
    if (this.#forget(body)) this.#bytes -= body.bytes;
  }

  /** @returns whether the body was incomplete */
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

/** The incomplete bodies of a sender. The set iterates in the order in which they started. */
interface Sender {
  bytes: number;
  readonly bodies: Set<UnfinishedBody>;
}

/** The largest message there is. */
export const maxBodyBytes = 1024 * 1024;

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** It has more bytes than are held. `start` is what is held of one that was read to its end, else null. */
  | { readonly kind: 'too-large'; readonly start: Buffer | null }
  /** The buffer of webhooks in progress has no space for it. */
  | { readonly kind: 'no-room' };

/** How much is read of a body. */
export interface BodyLimits {
  readonly heldBytes: number;
  /** A larger body is read on up to this length, and its bytes beyond `heldBytes` are dropped. */
  readonly readBytes: number;
}

const webhookLimits: BodyLimits = { heldBytes: maxBodyBytes, readBytes: maxBodyBytes };

/** The announced length of a request's body; 0 without one. Node rejects a body of another length. */
export function announcedBytesOf(request: Request): number {
  return Number(request.headers.get('content-length') ?? 0);
}

/** The body of a request without a connection, such as one made in the same process. */
export function bodyOf({ body }: Request): Readable {
  return Readable.from(body ?? []);
}

/**
 * Reads a whole body, and stops as soon as it must be refused. It reads the events of Node's stream: a web stream
 * around each body costs more than the rest of its request.
 * @throws Error when the client leaves before the end
 */
export function readBody(
  body: Readable,
  holding: Holding,
  { heldBytes, readBytes }: BodyLimits = webhookLimits,
): Promise<Body> {
  const { promise, resolve, reject } = Promise.withResolvers<Body>();
  const chunks: Buffer[] = [];
  let length = 0;
  const refuse = (refused: Body) => {
    body.off('data', add).pause();
    chunks.length = 0;
    resolve(refused);
  };
  const add = (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > readBytes) return refuse({ kind: 'too-large', start: null });
    if (length > heldBytes) return;
    if (!holding.add(chunk.length)) return refuse({ kind: 'no-room' });
    chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  };
  // Without this, an evicted body that sends nothing would be awaited forever.
  holding.evicted.addEventListener('abort', () => refuse({ kind: 'no-room' }), { once: true });
  body
    .on('data', add)
    .once('error', reject)
    .once('close', () => reject(new Error('The client left.')));
  body.once('end', () => {
    if (!holding.complete()) return resolve({ kind: 'no-room' });
    const bytes = Buffer.concat(chunks);
    resolve(length > heldBytes ? { kind: 'too-large', start: bytes } : { kind: 'whole', bytes });
  });
  return promise;
}
