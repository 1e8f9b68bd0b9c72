/**
 * The bytes of base64url text in its one canonical form (RFC 4648, section 5). Null for all other text that Node reads as
 * well: with padding, of the other alphabet, with spare bits or with characters that mean nothing. So no token and no
 * cursor has a second spelling.
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
