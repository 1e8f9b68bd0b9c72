import { parseResult } from '../http.ts';
import type { Framing } from './http-stream.ts';

/** Parts of a multipart answer, as in Apollo's protocol for subscriptions over HTTP. */
export const multipart: Framing = {
  accept: 'multipart/mixed;subscriptionSpec="1.0",application/json',
  type: 'multipart/mixed',
  delimiter: '\n--graphql',
  ending: '--',
  read: (part) => {
    // Not `.`, which ends at U+2028: texts of people contain it.
    const json = /^\{"payload":([^\n]+)\}$/m.exec(part)?.[1];
    return json === undefined ? null : parseResult(json);
  },
};
