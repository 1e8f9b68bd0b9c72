/** What goes wrong with one answer. */
export type FaultEffect =
  | { readonly kind: 'tooManyRequests'; readonly retryAfterSeconds?: number }
  /** 500 with the text `Internal Server Error`, as the public service has been seen to answer. */
  | { readonly kind: 'serverError' }
  /** 403: the team is not enabled for the feature. */
  | { readonly kind: 'featureNotEnabled' }
  /** Any answer at all. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The work is done; the JSON of the answer breaks off in the middle. */
  | { readonly kind: 'truncatedBody' }
  /** No answer until the caller disconnects or the sandbox closes; the work is not done. */
  | { readonly kind: 'hang' }
  /** The work is done; the connection breaks before the answer. */
  | { readonly kind: 'lostAnswer' }
  /** Orders in the answer have a last status that nobody knows. */
  | { readonly kind: 'unknownStatus'; readonly status?: string }
  /** The answer gets this many bytes of padding. */
  | { readonly kind: 'bigBody'; readonly bytes: number };

/** Which requests go wrong, how often, and how; delay and effect may be combined. */
export interface FaultRule {
  /** All methods where left out. */
  readonly method?: string;
  /** A text is the beginning of the path; a pattern is searched in path and query. */
  readonly path: string | RegExp;
  /** For so many requests; for ever where left out. */
  readonly times?: number;
  readonly delayMs?: number;
  readonly effect?: FaultEffect;
}

/** Rules that make the sandbox misbehave; the first that matches a request is used. */
export interface Faults {
  readonly add: (rule: FaultRule) => void;
  readonly clear: () => void;
}

/** The rules, and how the HTTP side takes the one for a request. */
export interface FaultRules extends Faults {
  readonly take: (method: string, pathAndQuery: string) => FaultRule | undefined;
}

function isMatch(rule: FaultRule, method: string, pathAndQuery: string): boolean {
  if (rule.method !== undefined && rule.method.toUpperCase() !== method) return false;
  if (typeof rule.path === 'string') return pathAndQuery.startsWith(rule.path);
  return rule.path.test(pathAndQuery);
}

/** An empty set of rules. */
export function createFaults(): FaultRules {
  let rules: { readonly rule: FaultRule; left: number }[] = [];
  return {
    add: (rule) => {
      rules.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear: () => {
      rules = [];
    },
    take: (method, pathAndQuery) => {
      const found = rules.find(({ rule, left }) => left > 0 && isMatch(rule, method, pathAndQuery));
      if (found) found.left -= 1;
      return found?.rule;
    },
  };
}
