import Negotiator from 'negotiator';

/** How the bytes of an answer are coded (RFC 9110, 8.4.1); `identity` is not at all. */
export type Coding = 'br' | 'gzip' | 'identity';

/** The smallest first. */
const preferred: readonly Coding[] = ['br', 'gzip', 'identity'];

/** The time to read the header grows with its length. Browsers send about 30 characters. */
const maxHeaderLength = 256;

/** Its published types do not know the second argument. */
interface EncodingNegotiator {
  readonly encodings: (available: string[], options: { readonly preferred: string[] }) => string[];
}

/**
 * The coding for a client that sent this `Accept-Encoding`: the one it prefers, or else the smallest. Null if it accepts
 * none of the available ones.
 */
export function chooseCoding(acceptEncoding: string | null, available: readonly Coding[]): Coding | null {
  if (acceptEncoding === null || acceptEncoding.length > maxHeaderLength) return 'identity';
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  const offered = preferred.filter((coding) => available.includes(coding));
  const [chosen] = negotiator.encodings(offered, { preferred: offered });
  return offered.find((coding) => coding === chosen) ?? null;
}
