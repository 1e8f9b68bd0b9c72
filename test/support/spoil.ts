import fc from 'fast-check';

const junk = fc.oneof(
  fc.constantFrom(
    null,
    '',
    'unheard_of',
    -1,
    1e300,
    2 ** 40,
    true,
    [],
    {},
    [null],
    { id: 3 },
    '2026-02-30',
    'javascript:1',
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(Array.from({ length: 30 }).reduce<unknown>((inner) => ({ id: 'deep', data: [inner] }), null)),
);

/** The value with some of its parts replaced, taken away or added to, at any depth. */
export function spoil(value: unknown): fc.Arbitrary<unknown> {
  const inner = (): fc.Arbitrary<unknown> => {
    if (Array.isArray(value)) return fc.tuple(...value.slice(0, 3).map(spoil), junk);
    if (typeof value !== 'object' || value === null) return fc.constant(value);
    const parts = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, spoil(part)]));
    return fc.record({ ...parts, brand_new: junk }, { requiredKeys: [] });
  };
  return fc.oneof({ weight: 8, arbitrary: inner() }, { weight: 1, arbitrary: junk });
}
