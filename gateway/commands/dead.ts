import type { EventStore } from '../events/open.ts';
import type { Command } from './command.ts';
import { walkDeadLetters } from './walk.ts';

/** Lists what nobody was told, and why. */
export const dead: Command<EventStore> = {
  usage: '[--body]',
  summary:
    'lists the dead letters: position, when, type, reason, team, and `sealed` when no key opens it; with --body what they say',
  options: { body: { type: 'boolean' } },
  run: async ({ store, options, print, say }) => {
    let count = 0;
    for await (const letter of walkDeadLetters(store.log)) {
      const { position, receivedAt, type, deadReason, teamId } = letter;
      // Bodies are health data: only for who asks for them.
      const body = options.body === true ? { body: letter.body?.toString('utf8') ?? null } : {};
      const sealed = letter.body === null ? { sealed: true } : {};
      await print({ position, receivedAt, type, reason: deadReason, teamId, ...sealed, ...body });
      count += 1;
    }
    if (count === 0) say('There are no dead letters.');
    return true;
  },
};
