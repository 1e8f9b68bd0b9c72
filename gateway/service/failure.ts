import { type ErrorCode, GatewayError, type UpstreamIssue } from '../errors.ts';
import { parseHttpDate } from '../parse/dates.ts';
import { isRecord, parseJson } from '../parse/json.ts';

/** The body of a refusal, for calls that read it. It is a class, so that no other answer can be mistaken for one. */
export class Refusal {
  readonly json: Readonly<Record<string, unknown>>;

  constructor(json: Readonly<Record<string, unknown>>) {
    this.json = json;
  }
}

/** An answer of the service: its status, the headers that the gateway reads, and its body as text. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/**
 * The JSON of a successful answer (null for an empty one), or `undefined` for 404. A 404 is an answer and not a fault,
 * so equal reads share it. A refusal with one of the given statuses becomes a Refusal, if its body is an object.
 * @throws GatewayError for any other status, and UPSTREAM_UNREADABLE for 202 (accepted is not done) and for a body that
 *   is not JSON
 */
export function readAnswer(answer: Answer, refusals: readonly number[] = []): unknown {
  if (answer.status === 404) return undefined;
  if (answer.status < 200 || answer.status > 299) {
    const refusal = refusals.includes(answer.status) ? parse(answer.body) : null;
    if (isRecord(refusal)) return new Refusal(refusal);
    throw describeFailure(answer);
  }
  if (answer.status === 202) {
    const message = 'The service accepted the request without reporting its outcome.';
    throw new GatewayError('UPSTREAM_UNREADABLE', message, { status: answer.status });
  }
  if (answer.body === '') return null;
  try {
    return parseJson(answer.body);
  } catch {
    // The parser's own error quotes the body, so it is not the cause.
    throw new GatewayError('UPSTREAM_UNREADABLE', 'The service answered with text that is not JSON.', {
      status: answer.status,
    });
  }
}

const failures: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map([
  [401, ['UPSTREAM_UNAUTHORIZED', "The service refused the gateway's key."]],
  [403, ['UPSTREAM_FORBIDDEN', 'The service does not allow this team to do that.']],
  [408, ['UPSTREAM_TIMEOUT', 'The service did not answer in time.']],
  [429, ['UPSTREAM_RATE_LIMITED', 'The service asks to be called less often.']],
]);

function describeFailure({ status, retryAfter, body }: Answer): GatewayError {
  const [code, message] = failures.get(status) ?? describeClass(status);
  const retryAfterMs = status === 429 || status >= 500 ? readRetryAfter(retryAfter) : null;
  return new GatewayError(code, message, {
    status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(code === 'UPSTREAM_REJECTED' ? { issues: readIssues(body) } : {}),
  });
}

function describeClass(status: number): readonly [ErrorCode, string] {
  if (status >= 500) return ['UPSTREAM_UNAVAILABLE', 'The service failed to answer.'];
  if (status >= 400) return ['UPSTREAM_REJECTED', 'The service refused the request.'];
  return ['UPSTREAM_UNREADABLE', 'The service answered with a redirect, which is not followed.'];
}

/** `Retry-After` in milliseconds: seconds or an HTTP date. */
export function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const date = parseHttpDate(value.trim());
  return date === null ? null : Math.max(0, date.getTime() - Date.now());
}

/**
 * The issues of a 422: only `loc` and `msg` of each detail. `input` echoes the request, which is patient data, so it
 * is never passed on; a message that shares a word with it is replaced by the detail's type.
 */
function readIssues(body: string): readonly UpstreamIssue[] {
  const detail = readDetail(body);
  if (!Array.isArray(detail)) return [];
  return detail.slice(0, 50).flatMap((item: unknown) => {
    if (!isRecord(item)) return [];
    const location = Array.isArray(item.loc) ? item.loc.map(String) : [];
    return [{ location, message: readMessage(item) }];
  });
}

function readDetail(body: string): unknown {
  const parsed = parse(body);
  return isRecord(parsed) ? parsed.detail : null;
}

function parse(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return null;
  }
}

function readMessage(item: Readonly<Record<string, unknown>>): string {
  const message = typeof item.msg === 'string' ? item.msg : '';
  const said = new Set(wordsOf(message));
  const quoted = collectTexts(item.input).some(
    (text) => (text.length > 3 && message.includes(text)) || wordsOf(text).some((word) => said.has(word)),
  );
  if (message !== '' && message.length <= 200 && !quoted) return message;
  return typeof item.type === 'string' ? item.type : 'Not accepted.';
}

/** Ignores case and punctuation, because a message may quote a value in another form. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function collectTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return isRecord(value) ? Object.values(value).flatMap(collectTexts) : [];
}

/** The fault of a call that was not answered and that the gateway did not end. */
export function describeFault(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const notSent = isConnectFailure(error);
  const message = notSent ? 'The service could not be reached.' : 'The service gave no answer.';
  return new GatewayError('UPSTREAM_UNAVAILABLE', message, { cause: error, notSent });
}

/** The error of a wait that was aborted: the timeout, or ABANDONED if nobody waits any more. */
export function describeEnd({ reason }: AbortSignal): GatewayError {
  const isTimeout = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isTimeout
    ? describeLate()
    : new GatewayError('ABANDONED', 'The client left before the service had answered.', { cause: reason });
}

export function describeLate(): GatewayError {
  return new GatewayError('UPSTREAM_TIMEOUT', 'The service did not answer in time.');
}

export function describeTooLong(): GatewayError {
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered with more than the gateway reads.');
}

function isConnectFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
