import type { GraphContext } from './context.ts';

/**
 * What a stream's cursor is bound to: which stream, of what, for whom. A renewed token of the same user keeps
 * its cursors; another caller's cursor is worth nothing.
 */
export function cursorScope(context: GraphContext, stream: string, of: string): string {
  const { caller } = context;
  return `${stream} ${of} ${caller.kind === 'TEAM' ? 'team' : `user:${caller.userId}`}`;
}
