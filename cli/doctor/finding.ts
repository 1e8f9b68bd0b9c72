/** The outcome of one check. It has no secret and nothing personal, so that it can be sent to others. */
export type Finding = {
  readonly check: string;
  /** False for a fault. A warning is ok, and has a fix. */
  readonly ok: boolean;
  readonly message: string;
  /** What to do; null where all is well. */
  readonly fix: string | null;
};

export function ok(check: string, message: string): Finding {
  return { check, ok: true, message, fix: null };
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, ok: true, message, fix };
}

export function fault(check: string, message: string, fix: string): Finding {
  return { check, ok: false, message, fix };
}
