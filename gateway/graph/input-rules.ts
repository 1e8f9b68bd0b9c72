import type { InputIssue } from './user-error.ts';

/** A rule of the service for an input. All rules are checked before the call, and reported at once. */
export interface InputRule<Input> {
  readonly path: readonly string[];
  readonly message: string;
  readonly holds: (input: Input) => boolean;
}

/** The rules that the input breaks, as issues under `path`, in the order of the rules. */
export function findIssues<Input>(
  rules: readonly InputRule<Input>[],
  input: Input,
  path: readonly string[] = [],
): readonly InputIssue[] {
  return rules
    .filter((rule) => !rule.holds(input))
    .map((rule) => ({ path: [...path, ...rule.path], message: rule.message }));
}

export function isGiven(text: string): boolean {
  return text.trim() !== '';
}
