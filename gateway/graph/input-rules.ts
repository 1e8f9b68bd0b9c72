import { countCharacters } from './arguments.ts';
import type { InputIssue, IssueCode } from './user-error.ts';

/**
 * A rule of the service for an input: the path with dots between names, the message for a broken rule, the check, and
 * the code for a broken rule (INVALID where left out).
 */
export type InputRule<Input> = readonly [
  path: string,
  message: string,
  holds: (input: Input) => boolean,
  code?: IssueCode,
];

/** The rule that a text must be given. */
export function given<Name extends string>(
  name: Name,
  message: string,
): InputRule<Readonly<Record<Name, string>>> {
  return [name, message, (input) => isGiven(input[name]), 'REQUIRED'];
}

/** The broken rules, in the order of the rules. Rules are checked before the call, and all at once. */
export function findIssues<Input>(rules: readonly InputRule<Input>[], input: Input): readonly InputIssue[] {
  return rules
    .filter(([, , holds]) => !holds(input))
    .map(([path, message, , code = 'INVALID']) => ({ path: path.split('.'), message, code }));
}

/** The issues of an idempotency key, which has 1 to 255 characters. */
export function findKeyIssues(idempotencyKey: string, message: string): readonly InputIssue[] {
  const path = ['idempotencyKey'];
  if (!isGiven(idempotencyKey)) return [{ path, code: 'REQUIRED', message }];
  return countCharacters(idempotencyKey) <= 255 ? [] : [{ path, code: 'TOO_LONG', message }];
}

/** The issues of a part of the input, with paths that begin at the whole input. */
export function under(part: string, issues: readonly InputIssue[]): readonly InputIssue[] {
  return issues.map((issue) => ({ ...issue, path: [part, ...issue.path] }));
}

export function isGiven(text: string): boolean {
  return text.trim() !== '';
}
