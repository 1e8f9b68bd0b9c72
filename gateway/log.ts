import { type DestinationStream, pino } from 'pino';
import { GatewayError } from './errors.ts';

/**
 * Everything a log line may say besides its event name. An allow-list: what is not here cannot be logged,
 * so keys, bodies, variables, names, addresses, portal URLs and user ids have no way in.
 */
export interface LogFields {
  readonly address?: string;
  readonly advice?: string;
  readonly altered?: boolean;
  readonly attempts?: number;
  /** A gateway key by its name (auth/authenticate.ts). */
  readonly caller?: string;
  readonly code?: string;
  readonly count?: number;
  /** sha256 of a GraphQL document, which may name people; never the document. */
  readonly documentHash?: string;
  readonly duplicate?: boolean;
  readonly durationMs?: number;
  readonly error?: unknown;
  readonly eventType?: string;
  /** How far a file of the audit trail goes (audit/line.ts). */
  readonly head?: string;
  readonly messageId?: string;
  readonly method?: string;
  readonly offSeconds?: number;
  readonly operation?: string;
  readonly position?: number;
  readonly reason?: string;
  readonly requestId?: string;
  /** Until it is tried again. */
  readonly retryMs?: number;
  readonly route?: string;
  readonly service?: string;
  readonly signal?: string;
  readonly status?: number;
  readonly store?: string;
}

const allowedFields: readonly (keyof LogFields)[] = [
  'address',
  'advice',
  'altered',
  'attempts',
  'caller',
  'code',
  'count',
  'documentHash',
  'duplicate',
  'durationMs',
  'error',
  'eventType',
  'head',
  'messageId',
  'method',
  'offSeconds',
  'operation',
  'position',
  'reason',
  'requestId',
  'retryMs',
  'route',
  'service',
  'signal',
  'status',
  'store',
];

export interface Log {
  readonly info: (event: string, fields?: LogFields) => void;
  readonly warn: (event: string, fields?: LogFields) => void;
  readonly error: (event: string, fields?: LogFields) => void;
}

export interface LogOptions {
  /** pino's level names, or `silent`. */
  readonly level: string;
  /** Where lines go; standard error by default, so that standard output stays for what `npm start` prints. */
  readonly destination?: DestinationStream;
}

/** A logger of one JSON line per fact, with fields from the allow-list only. */
export function createLog({ level, destination }: LogOptions): Log {
  const lines = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'event' },
    destination ?? pino.destination(2),
  );
  return {
    info: (event, fields) => lines.info(pickAllowed(fields), event),
    warn: (event, fields) => lines.warn(pickAllowed(fields), event),
    error: (event, fields) => lines.error(pickAllowed(fields), event),
  };
}

function pickAllowed(fields: LogFields = {}): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const name of allowedFields) {
    if (fields[name] === undefined) continue;
    line[name] = name === 'error' ? describeError(fields.error) : fields[name];
  }
  return line;
}

/**
 * What a log may say of an error: its class, its code and where it was thrown. Messages of foreign errors
 * can quote the data that broke them, so only our own are kept.
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
