import { createHmac, hkdfSync } from 'node:crypto';

/** What one key of AUDIT_TRAIL_KEY is used for. */
export interface AuditKey {
  /** The link of a line to the one before it: without the key nobody can make one. */
  readonly link: (before: string, body: string) => string;
  /** The same for one user for as long as the key stays, and of no use without it. */
  readonly userPseudonym: (userId: string) => string;
  readonly tokenPseudonym: (tokenId: string) => string;
}

const pseudonymDigits = 16;
/** Pseudonyms that are kept at hand: those who ask, ask again. */
const maxRemembered = 10_000;

/** @param key 32 bytes */
export function createAuditKey(key: Buffer): AuditKey {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, 32));
  const [linkKey, pseudonymKey] = [derive('labgraph audit link'), derive('labgraph audit pseudonym')];
  const pseudonym = remember((text) =>
    createHmac('sha256', pseudonymKey).update(text).digest('hex').slice(0, pseudonymDigits),
  );
  return {
    link: (before, body) => createHmac('sha256', linkKey).update(`${before}\n${body}`).digest('base64url'),
    userPseudonym: (userId) => pseudonym(`user ${userId.toLowerCase()}`),
    tokenPseudonym: (tokenId) => pseudonym(`token ${tokenId}`),
  };
}

function remember(make: (text: string) => string): (text: string) => string {
  const made = new Map<string, string>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    const fresh = make(text);
    if (made.size >= maxRemembered) made.clear();
    made.set(text, fresh);
    return fresh;
  };
}
