import fc from 'fast-check';
import { bodies } from './bodies.ts';
import { type Header, usually } from './choices.ts';
import { framings } from './framings.ts';
import { type About, headers, methods, oddLines, targets, versions } from './heads.ts';

/** How the name and the value of a header are written. */
const writings = usually<(header: Header) => string>(
  ([name, value]) => `${name}: ${value}`,
  [
    ([name, value]) => `${name.toLowerCase()}: ${value}`,
    ([name, value]) => `${name.toUpperCase()}: ${value}`,
    ([name, value]) => `${name}:${value}`,
    ([name, value]) => `${name}:\t  ${value} \t`,
  ],
);

/** The bytes of one request: an ordinary one, or one that is unusual in a few ways, or in many. */
export function arbitraryRequest(about: About): fc.Arbitrary<Buffer> {
  const start = fc.tuple(methods, targets, versions).map((words) => words.join(' '));
  const body = fc
    .tuple(fc.constantFrom(...bodies(about)), edits(8), framings)
    .map(([bytes, edit, frame]) => frame(Buffer.from(edit(bytes.toString('latin1')), 'latin1')));
  const written = fc.tuple(writings, oddLines, edits(20), fc.integer());
  return fc
    .tuple(start, headers(about), body, written)
    .map(([line, given, { headers: framing, sent }, [write, odd, edit, order]]) => {
      // What says how long the body is stays as it is: else somebody would wait for more of it.
      const lines = [
        edit([line, ...shuffle(given, order).map(write), ...odd].join('\r\n')),
        ...framing.map(write),
      ];
      return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent]);
    })
    .filter((request) => !namesTimes(request.toString('latin1')));
}

/** A trace of reads says how long they took and what was cached, which no two gateways have in common. */
function namesTimes(request: string): boolean {
  return /^x-labgraph-trace:\s*upstream\s*$/im.test(request) && /users|order\(/.test(request);
}

/** Out of so many texts, one with one byte more, less or other than it should have. */
function edits(outOf: number): fc.Arbitrary<(text: string) => string> {
  const byte = fc.constantFrom(...'\0\t\n\r "\\{}[]()<>:;,=/?#%@*.aA0\x7f\x80\xe4\xff'.split(''), '');
  const edit = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), byte, fc.boolean());
  return fc.oneof(
    { weight: outOf - 1, arbitrary: fc.constant((text: string) => text) },
    {
      weight: 1,
      arbitrary: edit.map(([place, inserted, isInserted]) => (text: string) => {
        const at = Math.floor(place * text.length);
        return text.slice(0, at) + inserted + text.slice(isInserted ? at : at + 1);
      }),
    },
  );
}

/** In another order for each number; headers of one name stay in theirs. */
function shuffle(given: readonly Header[], order: number): readonly Header[] {
  const placeOf = ([name]: Header) => Math.imul(order | 1, name.length * 31 + name.charCodeAt(0)) & 0xff;
  return given.toSorted((one, other) => placeOf(one) - placeOf(other));
}
