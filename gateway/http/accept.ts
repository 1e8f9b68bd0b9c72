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
