import type { EventLog } from './log.ts';

/** For a log that one gateway has for itself. */
export const noOthers: Pick<EventLog, 'publish' | 'subscribe'> = {
  publish: async () => {},
  subscribe: () => () => {},
};
