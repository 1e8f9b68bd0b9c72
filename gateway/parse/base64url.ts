/**
 * Decodes canonical base64url (RFC 4648, section 5). Null for all other spellings that Node accepts: with padding, in the
 * other base64 alphabet, with nonzero trailing bits or with characters that Node ignores. So no token and no cursor has a
 * second spelling.
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
