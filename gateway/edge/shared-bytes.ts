const pieceBytes = 64 * 1024;

/**
 * The body of a Response whose bytes are shared: a Response of bytes copies them for each answer. They come in pieces as the client reads, so
 * that little of a large one is unread at any time.
 */
export function streamShared(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      at += pieceBytes;
      if (at >= bytes.length) controller.close();
    },
  });
}
