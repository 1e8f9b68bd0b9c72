import { type Answer, cutShort, json, reset, text } from '../../support/misbehaving-service.ts';

/** Ways in which the service goes wrong and repeats what it was given, or what it knows, as it does. */
export function faultsWith(words: string, elsewhere: string): readonly (readonly [string, Answer])[] {
  const detail = [
    { type: 'value_error', loc: ['body', 'email'], msg: `No ${words}`, input: { email: words } },
  ];
  return [
    ['a failure', text(`Traceback: ${words}`, 500, { 'x-words': words })],
    ['a refusal that repeats the input', json({ detail }, 422)],
    ['a refusal in words', json({ detail: `${words} may not`, user: words }, 400)],
    ['too many requests', json({ detail: words }, 429, { 'retry-after': '0' })],
    ['a feature that is closed', json({ detail: words }, 403)],
    ['an answer of another shape', json({ [words]: [words], order: { id: words } })],
    ['an answer that is no JSON', text(`{"${words}": ${words}`, 200, { 'content-type': 'application/json' })],
    ['a page', text(`<h1>${words}</h1>`, 200, { 'content-type': 'text/html' })],
    ['a redirect', text(words, 302, { location: `${elsewhere}/${words}` })],
    ['half an answer', cutShort],
    ['a cut connection', reset],
  ];
}
