/** Far more than any documented answer or event has. */
const maxLevels = 100;

/**
 * Parses what came from outside. JSON.parse takes any nesting, but writing it again does not: what is nested
 * deeper than 100 levels could be read and then neither be kept nor shown.
 * @throws SyntaxError for text that is not JSON, or is nested too deeply
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeper(value, maxLevels)) throw new SyntaxError('The JSON is nested too deeply.');
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isRecord(value)) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  // Not Object.values, which copies: 100 orders (340 kB) take 0.2 ms here, 0.6 ms to parse and 2.8 ms to read.
  for (const key in value) if (isDeeper(value[key], levels - 1)) return true;
  return false;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
