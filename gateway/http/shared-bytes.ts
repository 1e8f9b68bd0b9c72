const pieceBytes = 64 * 1024;

/**
 * A body for a Response that shares its bytes; a Response made of bytes copies them for each answer. The bytes are sent in
 * pieces as the client reads, so that few of a large body are unread at any time.
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
