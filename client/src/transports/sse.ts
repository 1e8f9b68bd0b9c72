import { parseResult } from '../http.ts';
import type { Framing } from './http-stream.ts';

/** Server-sent events, as in the protocol of graphql-sse (distinct connections). An EventSource could not send the token. */
export const sse: Framing = {
  accept: 'text/event-stream',
  type: 'text/event-stream',
  delimiter: '\n\n',
  ending: 'event: complete',
  read: (frame) => {
    // Not `.`, which ends at U+2028: texts of people contain it.
    const json = /^data: ([^\n]+)$/m.exec(frame)?.[1];
    return json === undefined ? null : parseResult(json);
  },
};
