/**
 * A request body in the spelling of the service: names in snake_case at every depth. Undefined and null are
 * not sent; with `sendsNull` a null is sent, which clears the field.
 */
export function toRequestBody(
  fields: object,
  { sendsNull = false }: { readonly sendsNull?: boolean } = {},
): Readonly<Record<string, unknown>> {
  const given = Object.entries(fields).filter(
    ([, value]) => value !== undefined && (sendsNull || value !== null),
  );
  return Object.fromEntries(given.map(([name, value]) => [toSnakeCase(name), spell(value)]));
}

function spell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spell);
  return typeof value === 'object' && value !== null && !(value instanceof Date)
    ? toRequestBody(value)
    : value;
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
