import type { GraphContext } from '../context.ts';

/**
 * What a cursor is bound to: which stream or list, of what, for whom. A renewed token of the same user keeps
 * its cursors; another caller's cursor is worth nothing.
 */
export function cursorScope({ caller }: Pick<GraphContext, 'caller'>, stream: string, of: string): string {
  return `${stream} ${of} ${caller.kind === 'TEAM' ? 'team' : `user:${caller.userId}`}`;
}
