import fc from 'fast-check';

/** A value out of these: the usual one in most cases. */
export function usually<T>(usual: T, others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...others) },
  );
}

export type Header = readonly [name: string, value: string];

/** A header that most requests do not have, and some have twice. */
export function seldom(name: string, values: readonly string[]): fc.Arbitrary<readonly Header[]> {
  const header = fc.constantFrom(...values).map((value): Header => [name, value]);
  return fc.oneof(
    { weight: 60, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: header.map((one) => [one]) },
    { weight: 1, arbitrary: fc.tuple(header, header) },
  );
}

/** A header that most requests have once, with this value. */
export function often(
  name: string,
  usual: string,
  others: readonly (string | readonly string[])[],
): fc.Arbitrary<readonly Header[]> {
  return usually<string | readonly string[]>(usual, others).map((values) =>
    [values].flat().map((value): Header => [name, value]),
  );
}
