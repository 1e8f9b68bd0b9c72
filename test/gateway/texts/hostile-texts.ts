/** What a rule or a scalar may take long over: each pattern again and again, and at its end what fits none. */
const patterns: Readonly<Record<string, string>> = {
  'at signs with dots': '@.',
  spaces: ' ',
  'line feeds': '\n',
  'all white space': ' \t\r\n',
  'opening brackets': '[',
  braces: '{"a":',
  quotes: '"',
  backslashes: '\\',
  'combining characters': 'a\u0301',
  'characters of two units': '😀',
  'joined characters': '👩\u200d',
  letters: 'a',
  'words of a letter': 'a ',
  'letters with apostrophes': "a'-.,",
  digits: '1',
  'a phone number': '+1 (602) ',
  'digits with hyphens': '0d5f-',
  'days and times': '2026-01-01T',
  'slashes and percent signs': '/%2F',
  'an address of the web': 'http://a.a/',
};

/** Twenty texts of a length in UTF-16 units, by what they repeat. */
export function hostileTexts(length: number): readonly (readonly [string, string])[] {
  return Object.entries(patterns).map(([name, pattern]) => {
    const repeated = pattern.repeat(Math.ceil(length / pattern.length));
    return [name, `${repeated.slice(0, length - 1)} `];
  });
}
