/** The outcome of one check. It has no secret and nothing personal, so that it can be sent to others. */
export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'fault';
  readonly message: string;
  /** What to do; null where all is well. */
  readonly fix: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, result: 'ok', message, fix: null };
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, result: 'warning', message, fix };
}

export function fault(check: string, message: string, fix: string): Finding {
  return { check, result: 'fault', message, fix };
}
