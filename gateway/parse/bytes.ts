/**
 * Decodes canonical base64url (RFC 4648, section 5). Null for all other spellings that Node accepts: with padding, in the
 * other base64 alphabet, with nonzero trailing bits or with characters that Node ignores. So no token and no cursor has a
 * second spelling.
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/**
 * Encodes text as UTF-8 in memory of its own. Node makes small buffers in blocks of 64 KiB that they share, so a cached
 * answer of 1 kB would hold a whole block.
 */
export function encodeAlone(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Copies bytes into memory of their own, for what is held longer than a request. */
export function copyAlone(shared: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(shared.length);
  shared.copy(bytes);
  return bytes;
}

/** All bytes of a body; null if there are more than `most`, of which the rest is not read. */
export async function readWithin(body: Request['body'], most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
