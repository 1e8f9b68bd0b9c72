import {
  type ErrorCode,
  GatewayError,
  type GatewayErrorOptions,
  isCertificateFault,
  type UpstreamIssue,
} from '../errors.ts';
import { parseHttpDate } from '../parse/dates.ts';
import { isRecord, parseJson, tryParseJson } from '../parse/json.ts';
import type { UpstreamCall } from './calls.ts';
import { collectTexts, type QuotableCall, readReason, wordsOf } from './reason.ts';

/** The body of a refusal, for calls that read it. It is a class, so that no other answer can be mistaken for one. */
export class Refusal {
  readonly json: Readonly<Record<string, unknown>>;
  /** The error to throw when the caller finds nothing in the body. */
  readonly error: GatewayError;

  constructor(json: Readonly<Record<string, unknown>>, error: GatewayError) {
    this.json = json;
    this.error = error;
  }
}

/** An answer of the service: its status, the headers that the gateway reads, and its body as text. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** The body of an answer, parsed and as text. */
export interface Fetched {
  /** Undefined if the service has no such thing. */
  readonly json: unknown;
  /** What `json` was parsed from; null where it is something else. */
  readonly text: string | null;
}

/**
 * The JSON of a successful answer (null for an empty one), or `undefined` for 404, and for 204 to a GET. A 404 is an answer
 * and not a fault, so equal reads share it. A refusal with one of the call's `readsRefusals` becomes a Refusal, if its body is
 * an object.
 * @throws GatewayError for any other status, and UPSTREAM_UNREADABLE for 202 (accepted is not done), for a body that is not
 *   JSON, and for the body of an error
 */
export function readAnswer(
  answer: Answer,
  call: QuotableCall & Partial<Pick<UpstreamCall, 'method' | 'readsRefusals'>>,
): Fetched {
  const isMissing = answer.status === 404 || (answer.status === 204 && call.method === 'GET');
  if (isMissing) return { json: undefined, text: null };
  if (answer.status < 200 || answer.status > 299) {
    const failure = describeFailure(answer, call);
    const refusal = call.readsRefusals?.includes(answer.status) ? tryParseJson(answer.body) : null;
    if (isRecord(refusal)) return { json: new Refusal(refusal, failure), text: null };
    throw failure;
  }
  if (answer.status === 202) {
    const message = 'The service accepted the request without reporting its outcome.';
    throw new GatewayError('UPSTREAM_UNREADABLE', message, { status: answer.status });
  }
  if (answer.body === '') return { json: null, text: null };
  const json = parseBody(answer);
  if (!isErrorBody(json)) return { json, text: answer.body };
  const message = 'The service answered with the status of a success and the body of an error.';
  throw new GatewayError('UPSTREAM_UNREADABLE', message, { status: answer.status });
}

function parseBody({ body, status }: Answer): unknown {
  try {
    return parseJson(body);
  } catch {
    // The parser's own error quotes the body, so it is not the cause.
    const message = 'The service answered with text that is not JSON.';
    throw new GatewayError('UPSTREAM_UNREADABLE', message, { status });
  }
}

const errorFields: ReadonlySet<string> = new Set(['detail', 'error', 'message', 'status_code']);

/** Whether it has nothing but `{ detail }` (specification, Errors) or `{ error, message, status_code }` (public service). */
function isErrorBody(json: unknown): boolean {
  if (!isRecord(json) || (json.detail ?? json.error ?? null) === null) return false;
  return Object.keys(json).every((name) => errorFields.has(name));
}

const failures: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map([
  [401, ['UPSTREAM_UNAUTHORIZED', "The service refused the gateway's key."]],
  [402, ['UPSTREAM_FORBIDDEN', 'The service does not allow this team to do that.']],
  [403, ['UPSTREAM_FORBIDDEN', 'The service does not allow this team to do that.']],
  [408, ['UPSTREAM_TIMEOUT', 'The service did not answer in time.']],
  [429, ['UPSTREAM_RATE_LIMITED', 'The service asks to be called less often.']],
]);

function describeFailure({ status, retryAfter, body }: Answer, call: QuotableCall): GatewayError {
  const [code, message] = failures.get(status) ?? describeClass(status);
  const retryAfterMs = status === 429 || status >= 500 ? readRetryAfter(retryAfter) : null;
  return new GatewayError(code, message, {
    status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(isRefusal(code) ? readRefusal(tryParseJson(body), call) : {}),
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

/** Whether the service understood the request and refused it. A 404 is none: what is missing and what is hidden look the same. */
function isRefusal(code: ErrorCode): boolean {
  return code === 'UPSTREAM_REJECTED' || code === 'UPSTREAM_FORBIDDEN';
}

function readRefusal(body: unknown, call: QuotableCall): Pick<GatewayErrorOptions, 'issues' | 'reason'> {
  const reason = readReason(body, call);
  return { issues: readIssues(body, call), ...(reason === null ? {} : { reason }) };
}

/**
 * The issues of a 422: only `loc` and `msg` of each detail. `input` echoes the request, which is patient data, so it
 * is never passed on; a message that shares a word with it is replaced by the detail's type. So is one that quotes a
 * value of the request.
 */
function readIssues(body: unknown, { query, body: sent, form }: QuotableCall): readonly UpstreamIssue[] {
  const detail = isRecord(body) ? body.detail : null;
  if (!Array.isArray(detail)) return [];
  const values = collectTexts([query, sent, form]).filter(isLong);
  return detail.slice(0, 50).flatMap((item: unknown) => {
    if (!isRecord(item)) return [];
    const location = Array.isArray(item.loc) ? item.loc.map(String) : [];
    return [
      {
        location,
        message: readMessage(item, values),
        kind: typeof item.type === 'string' ? item.type : null,
      },
    ];
  });
}

/** Shorter ones are in many sentences. */
function isLong(text: string): boolean {
  return text.length > 3;
}

function readMessage(item: Readonly<Record<string, unknown>>, values: readonly string[]): string {
  const message = typeof item.msg === 'string' ? item.msg : '';
  const said = new Set(wordsOf(message));
  const isRepeated = collectTexts(item.input).some((text) => wordsOf(text).some((word) => said.has(word)));
  const echoed = collectTexts(item.input).filter(isLong);
  const isQuoted = [...echoed, ...values].some((text) => message.includes(text));
  if (message !== '' && message.length <= 200 && !isQuoted && !isRepeated) return message;
  return typeof item.type === 'string' ? item.type : 'Not accepted.';
}

/** The fault of a call that was not answered and that the gateway did not end. */
export function describeFault(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isCertificateFault(error)) {
    const message = 'The service could not be reached: its certificate is not accepted.';
    return new GatewayError('UPSTREAM_UNAVAILABLE', message, { cause: error, notSent: true });
  }
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

/** The time of the operation is over: a call is not sent any more. */
export function describeOver(): GatewayError {
  const message = 'The service did not answer all calls of the operation in time.';
  return new GatewayError('UPSTREAM_TIMEOUT', message, { notSent: true });
}

export function describeTooLong(): GatewayError {
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered with more than the gateway reads.');
}

/** Whether there was no connection to send the request over. */
function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Node tries the addresses of a host one after the other.
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  const { code, syscall }: NodeJS.ErrnoException = error;
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
