import Negotiator from 'negotiator';
import type { HttpTransport } from '../execution/run-operation.ts';

/** One media range of an `Accept`, in lower case and without spaces and quotes. */
interface MediaRange {
  readonly type: string;
  readonly parameters: readonly string[];
}

/** The media types of an answer that is no stream. */
const ofAnswers = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'multipart/mixed',
];

/** Whether the client accepts any answer of the gateway. */
export function acceptsAnswers(accept: string | null): boolean {
  return readAccept(accept).some((range) => ofAnswers.some((type) => includes(range, type)));
}

/**
 * The transport of the streams of a request; null if the client accepts none. Only clients of Apollo's protocol name its
 * version in `Accept`; all others get server-sent events.
 */
export function chooseTransport(accept: string | null): HttpTransport | null {
  const ranges = readAccept(accept);
  if (ranges.some(isForParts)) return 'multipart';
  return ranges.some((range) => includes(range, 'text/event-stream')) ? 'sse' : null;
}

function isForParts({ type, parameters }: MediaRange): boolean {
  return type === 'multipart/mixed' && parameters.includes('subscriptionspec=1.0');
}

/** As Yoga reads it: a client without an `Accept` accepts everything, and answers are in UTF-8 only. */
function readAccept(accept: string | null): readonly MediaRange[] {
  return (accept || '*/*')
    .toLowerCase()
    .replaceAll(/[\s"]/g, '')
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';');
      return { type, parameters };
    })
    .filter(({ parameters }) => parameters.every(isUtf8OrNoCharset));
}

function isUtf8OrNoCharset(parameter: string): boolean {
  return !parameter.startsWith('charset=') || parameter === 'charset=utf-8';
}

function includes({ type: range }: MediaRange, type: string): boolean {
  return range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));
}

/** The media types of an answer in JSON. */
export type MediaType = 'application/json' | 'application/graphql-response+json';

/** The first type that the gateway can send, as in Yoga. Lists with parameters are left to Yoga. */
export function chooseMediaType(accept: string): MediaType | null {
  for (const asked of accept.split(',')) {
    const type = asked.trim().toLowerCase();
    if (type === '*/*' || type === 'application/*') return 'application/json';
    if (type === 'application/json' || type === 'application/graphql-response+json') return type;
    if (type.includes(';')) return null;
  }
  return null;
}

/**
 * The media type of a refusal: the first that the client accepts, whatever its parameters. JSON for a client that accepts
 * only streams.
 */
export function chooseRefusalType(accept: string | null): MediaType {
  for (const asked of (accept ?? '').toLowerCase().split(',')) {
    const [type = ''] = asked.split(';');
    const chosen = chooseMediaType(type);
    if (chosen !== null) return chosen;
  }
  return 'application/json';
}

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
