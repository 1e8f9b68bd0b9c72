/** An untrusted value, to be read field by field. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a value; none where it is no object. */
export function readFields(value: unknown): Fields {
  return Object(value);
}

/** The fields of a JSON text; null if it is not JSON. The parser's error would quote the text, so it is dropped. */
export function readJson(text: string): Fields | null {
  try {
    return readFields(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A text that is not empty, else null. */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value ? value : null;
}
