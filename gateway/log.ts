import { type DestinationStream, pino } from 'pino';
import { GatewayError } from './errors.ts';
import { currentRequest } from './telemetry/request.ts';

/**
 * Everything that a log line may contain besides the name of its event. This is an allow-list: other fields cannot be
 * logged, so keys, bodies, variables, names, addresses, portal URLs and user ids cannot get into the log.
 */
const textFields = [
  // Labels of keys, never keys (config/changed-secrets.ts).
  'added',
  'address',
  'advice',
  // The name of a gateway key (auth/authenticate.ts).
  'caller',
  'code',
  // sha256 of a GraphQL document, which may name people; never the document.
  'documentHash',
  'eventType',
  // The last line of a file of the audit trail (audit/line.ts).
  'head',
  'messageId',
  'method',
  'operation',
  'reason',
  'removed',
  'requestId',
  'route',
  'service',
  'setting',
  'signal',
  'store',
] as const;
const numberFields = [
  'attempts',
  'bytes',
  'characters',
  'count',
  'durationMs',
  'offSeconds',
  'position',
  'retryMs',
  'status',
] as const;
const flagFields = ['altered', 'duplicate'] as const;
const allowedFields = [...textFields, ...numberFields, ...flagFields] as const;

export type LogFields = { readonly [Name in (typeof textFields)[number]]?: string } & {
  readonly [Name in (typeof numberFields)[number]]?: number;
} & { readonly [Name in (typeof flagFields)[number]]?: boolean } & { readonly error?: unknown };

export interface Log {
  readonly debug: (event: string, fields?: LogFields) => void;
  readonly info: (event: string, fields?: LogFields) => void;
  readonly warn: (event: string, fields?: LogFields) => void;
  readonly error: (event: string, fields?: LogFields) => void;
}

export interface LogOptions {
  /** pino's level names, or `silent`. */
  readonly level: string;
  /** The destination of lines. Default: standard error, because standard output is for the banner of `npm start`. */
  readonly destination?: DestinationStream;
}

/** A logger of one JSON line per fact, with fields from the allow-list only. Lines of a request have its id. */
export function createLog({ level, destination }: LogOptions): Log {
  const lines = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'event',
      mixin: describeRequest,
    },
    destination ?? pino.destination(2),
  );
  return {
    debug: (event, fields) => lines.debug(pickAllowed(fields), event),
    info: (event, fields) => lines.info(pickAllowed(fields), event),
    warn: (event, fields) => lines.warn(pickAllowed(fields), event),
    error: (event, fields) => lines.error(pickAllowed(fields), event),
  };
}

function describeRequest(): { readonly requestId?: string } {
  const request = currentRequest();
  return request === undefined ? {} : { requestId: request.id };
}

function pickAllowed(fields: LogFields = {}): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const name of allowedFields) if (fields[name] !== undefined) line[name] = fields[name];
  if (fields.error !== undefined) line.error = describeError(fields.error);
  return line;
}

/**
 * The class of an error, its code and where it was thrown. Messages of foreign errors can quote the data that broke them,
 * so only our own are logged.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return {
    name: error.name,
    ...(error instanceof GatewayError ? { code: error.code, message: error.message } : {}),
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    stack: frames.slice(0, 6).map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

const minuteMs = 60_000;

/** Runs an action at most once a minute and drops the rest: for warnings that could come by the thousand. */
export function createThrottle(): (action: () => void) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (action) => {
    const now = performance.now();
    if (now - lastAt < minuteMs) return;
    lastAt = now;
    action();
  };
}
