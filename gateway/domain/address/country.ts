const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** Two-letter codes by lower-case English name: built once, from every code the runtime knows a name for. */
const codesByName = new Map<string, string>();
for (const first of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
  for (const second of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    const name = names.of(`${first}${second}`);
    if (name !== undefined) codesByName.set(name.toLowerCase(), `${first}${second}`);
  }
}

/**
 * A country in both forms. The specification accepts a code and returns a full name; the public sandbox
 * echoes what was sent, so both are read.
 */
export function toCountry(text: string | null): {
  readonly name: string | null;
  readonly code: string | null;
} {
  if (text === null) return { name: null, code: null };
  const upper = text.trim().toUpperCase();
  if (/^[A-Z]{2}$/.test(upper)) {
    const name = names.of(upper);
    return name === undefined ? { name: text, code: null } : { name, code: upper };
  }
  return { name: text, code: codesByName.get(text.trim().toLowerCase()) ?? null };
}
