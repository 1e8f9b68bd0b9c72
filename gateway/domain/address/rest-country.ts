const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

let codesByName: ReadonlyMap<string, string> | null = null;

/** Two-letter codes by lower-case English name, from every code the runtime knows a name for; built when first needed. */
function readCodesByName(): ReadonlyMap<string, string> {
  if (codesByName !== null) return codesByName;
  const codes = new Map<string, string>();
  for (const first of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    for (const second of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
      const name = names.of(`${first}${second}`);
      if (name !== undefined) codes.set(name.toLowerCase(), `${first}${second}`);
    }
  }
  codesByName = codes;
  return codes;
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
  return { name: text, code: readCodesByName().get(text.trim().toLowerCase()) ?? null };
}
