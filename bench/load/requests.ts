/** A GraphQL request, ready to be sent. Each `############` of its body is another number in every turn. */
export interface LoadRequest {
  readonly token: string;
  readonly body: string;
}

/** As long as a number is in an id, so that all bodies of a request have one length. */
export const numberMark = '############';

/** The request of this turn, from the first again after the last. Its numbers are those of no other turn. */
export function requestAt(requests: readonly LoadRequest[], turn: number): LoadRequest {
  const request = requests[turn % requests.length];
  if (request === undefined) throw new Error('There is nothing to ask.');
  const [first = '', ...others] = request.body.split(numberMark);
  const body = others.reduce((text, part, index) => {
    const number = turn * others.length + index;
    return text + String(number).padStart(numberMark.length, '0') + part;
  }, first);
  return { token: request.token, body };
}
