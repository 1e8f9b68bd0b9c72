/** What no message of the gateway may repeat. */
export const canary = 'CANARY-7f3a-Jane-Doe';

export interface MalformedBody {
  readonly name: string;
  readonly bytes: Buffer;
}

const whole = `{"query":"query ($id: ID!) { order(id: $id) { id } }","variables":{"id":"${canary}"}}`;

/** Texts that are no JSON, or only for some readers, after the cases that JSON parsers are known to disagree on. */
const texts: Readonly<Record<string, string>> = {
  empty: '',
  'white space': ' \n\t\r',
  'a comma at the end': `{"query":"${canary}",}`,
  'two commas': `{"query":"${canary}",,"variables":{}}`,
  'a comma first': `{,"query":"${canary}"}`,
  'no colon': `{"query" "${canary}"}`,
  'two colons': `{"query"::"${canary}"}`,
  'no quotes': `{query:${canary}}`,
  'single quotes': `{'query':'${canary}'}`,
  'a comment': `{/* ${canary} */"query":"{ viewer { kind } }"}`,
  'text behind it': `{"query":"{ viewer { kind } }"}${canary}`,
  'two values': `{"query":"${canary}"}{"query":"${canary}"}`,
  'a number as key': `{1:"${canary}"}`,
  'an escape that is none': `{"query":"\\x${canary}"}`,
  'half an escape': `{"query":"\\u00${canary}"}`,
  'a new line in a string': `{"query":"a\n${canary}"}`,
  'a zero byte': `{"query":"a\u0000${canary}"}`,
  'not a number': `{"variables":{"${canary}":NaN}}`,
  infinity: `{"variables":{"${canary}":-Infinity}}`,
  'a leading zero': `{"variables":{"${canary}":012}}`,
  'a plus': `{"variables":{"${canary}":+1}}`,
  'a hexadecimal number': `{"variables":{"${canary}":0x1F}}`,
  'a point without digits': `{"variables":{"${canary}":1.}}`,
  'a huge number': `{"query":"{ viewer { kind } }","variables":{"${canary}":1e99999}}`,
  'a word that is none': `{"query":nil,"${canary}":True}`,
  'a mark of byte order': `\uFEFF{"query":"${canary}"}`,
  'a lone surrogate': `{"query":"\\uD800${canary}"}`,
  'the same key twice': `{"query":"{ viewer { kind } }","query":"${canary}"}`,
  'a prototype': `{"query":"{ viewer { kind } }","__proto__":{"variables":"${canary}"}}`,
  'a deep list': `${'['.repeat(40_000)}"${canary}"`,
  'a deep list that ends': `${'['.repeat(40_000)}"${canary}"${']'.repeat(40_000)}`,
  'a deep object': `${'{"a":'.repeat(15_000)}"${canary}"${'}'.repeat(15_000)}`,
};

/** JSON that is no request. */
const values: readonly unknown[] = [
  null,
  true,
  17,
  canary,
  [],
  [canary],
  {},
  { query: null },
  { query: 17 },
  { query: [canary] },
  { query: { a: canary } },
  { query: '' },
  { query: '{ viewer { kind } }', variables: canary },
  { query: '{ viewer { kind } }', variables: [canary] },
  { query: '{ viewer { kind } }', variables: 17 },
  { query: '{ viewer { kind } }', operationName: { a: canary } },
  { query: '{ viewer { kind } }', operationName: [canary] },
  { query: '{ viewer { kind } }', extensions: canary },
  { query: '{ viewer { kind } }', extensions: { persistedQuery: canary } },
  { query: '{ viewer { kind } }', unknown: canary },
  { query: `{ order(id: "${canary}") { id } }`, variables: { __proto__: canary } },
  { query: `query ($id: ID! = {a: "${canary}"}) { order(id: $id) { id } }` },
  { constructor: canary, toString: canary, hasOwnProperty: canary },
];

/** Bytes that are no text. */
const bytes: Readonly<Record<string, Buffer>> = {
  'a byte of no character': Buffer.concat([Buffer.from(`{"query":"${canary}`), Buffer.of(0xff, 0x22, 0x7d)]),
  'half a character': Buffer.concat([Buffer.from(`{"query":"${canary}`), Buffer.of(0xe2, 0x82)]),
  'a character too long': Buffer.concat([Buffer.from(`{"a":"${canary}`), Buffer.of(0xc0, 0xaf, 0x22, 0x7d)]),
  'UTF-16': Buffer.from(whole, 'utf16le'),
  'zero bytes': Buffer.alloc(64),
  compressed: Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0),
};

/** A whole request cut off everywhere, and with each of its bytes spoilt: the same ones in every run. */
function* spoil(): Generator<MalformedBody> {
  const original = Buffer.from(whole);
  for (let at = 1; at < original.length; at += 1) {
    yield { name: `cut off after ${at} bytes`, bytes: original.subarray(0, at) };
  }
  for (let at = 0; at < original.length; at += 1) {
    const changed = Buffer.from(original);
    changed[at] = (at * 31 + 7) % 256;
    yield { name: `another byte at ${at}`, bytes: changed };
  }
}

/** Bodies of requests that something is wrong with; most carry the canary. */
export const malformedBodies: readonly MalformedBody[] = [
  ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
  ...values.map((value) => ({ name: JSON.stringify(value), bytes: Buffer.from(JSON.stringify(value)) })),
  ...Object.entries(bytes).map(([name, body]) => ({ name, bytes: body })),
  ...spoil(),
];
