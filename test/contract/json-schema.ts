/** A schema as OpenAPI 3.1 writes it; only the keywords in `knownKeywords` are understood. */
export type Schema = Readonly<Record<string, unknown>>;

/** One place where a value is not what the schema says. */
export interface Fault {
  /** Nearest named schema and the way from there, with `*` for any item. */
  readonly at: string;
  readonly rule: string;
  /** What was found, cut; for a person who reads the failed test. */
  readonly found: string;
}

/** The named schemas that `$ref` may point to, by their whole reference. */
export type Resolve = (reference: string) => Schema;

/** Keywords that the check obeys or that say nothing about a value (`propertyNames` names sets that are open). */
export const knownKeywords: ReadonlySet<string> = new Set([
  ...[
    '$ref',
    'type',
    'anyOf',
    'oneOf',
    'allOf',
    'enum',
    'const',
    'properties',
    'required',
    'items',
    'prefixItems',
  ],
  ...[
    'additionalProperties',
    'format',
    'pattern',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
  ],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'nullable'],
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', 'discriminator'],
  ...['propertyNames', 'x-fern-ignore', 'x-junction-exhaustive', 'x-fern-type-name', 'x-fern-enum'],
]);

const time = String.raw`\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})`;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const formats: Readonly<Record<string, RegExp>> = {
  uuid,
  uuid4: uuid,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': new RegExp(`^\\d{4}-\\d{2}-\\d{2}T${time}$`),
  uri: /^[a-z][a-z\d+.-]*:\S+$/i,
  email: /^[^@\s]+@[^@\s]+$/,
};

interface Place {
  readonly at: string;
  readonly resolve: Resolve;
}

type Check = (schema: Schema, value: unknown, place: Place) => readonly Fault[];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fault({ at }: Place, rule: string, value: unknown): readonly Fault[] {
  return [{ at, rule, found: String(JSON.stringify(value)).slice(0, 120) }];
}

function under(place: Place, key: string): Place {
  return { ...place, at: `${place.at}/${key}` };
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: isObject,
  null: (value) => value === null,
};

const checkType: Check = ({ type, nullable }, value, place) => {
  if (type === undefined || (nullable === true && value === null)) return [];
  const allowed = Array.isArray(type) ? type : [type];
  return allowed.some((name) => types[String(name)]?.(value)) ? [] : fault(place, 'type', value);
};

const checkValue: Check = (schema, value, place) => [
  ...(Array.isArray(schema.enum) && !schema.enum.includes(value) ? fault(place, 'enum', value) : []),
  ...('const' in schema && schema.const !== value ? fault(place, 'const', value) : []),
];

const checkText: Check = ({ format, pattern, minLength, maxLength }, value, place) => {
  if (typeof value !== 'string') return [];
  const known = formats[String(format)];
  return [
    ...(known?.test(value) === false ? fault(place, 'format', value) : []),
    ...(typeof pattern === 'string' && !new RegExp(pattern).test(value)
      ? fault(place, 'pattern', value)
      : []),
    ...(value.length < Number(minLength ?? 0) ? fault(place, 'minLength', value) : []),
    ...(value.length > Number(maxLength ?? Number.POSITIVE_INFINITY) ? fault(place, 'maxLength', value) : []),
  ];
};

const checkNumber: Check = (schema, value, place) => {
  if (typeof value !== 'number') return [];
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum } = schema;
  return [
    ...(value < Number(minimum) ? fault(place, 'minimum', value) : []),
    ...(value > Number(maximum) ? fault(place, 'maximum', value) : []),
    ...(value <= Number(exclusiveMinimum ?? -Infinity) ? fault(place, 'exclusiveMinimum', value) : []),
    ...(value >= Number(exclusiveMaximum ?? Infinity) ? fault(place, 'exclusiveMaximum', value) : []),
  ];
};

const checkArray: Check = ({ items, prefixItems, minItems, maxItems, uniqueItems }, value, place) => {
  if (!Array.isArray(value)) return [];
  const first = listOf(prefixItems);
  const distinct = new Set(value.map((item) => JSON.stringify(item)));
  return [
    ...(value.length < Number(minItems ?? 0) ? fault(place, 'minItems', value) : []),
    ...(value.length > Number(maxItems ?? Infinity) ? fault(place, 'maxItems', value) : []),
    ...(uniqueItems === true && distinct.size < value.length ? fault(place, 'uniqueItems', value) : []),
    ...value.flatMap((item, n) => {
      const schema = first[n] ?? items;
      return isObject(schema) ? checkSchema(schema, item, under(place, '*')) : [];
    }),
  ];
};

/** A field that the schema does not name is a fault too, unless it says what further fields are. */
const checkObject: Check = ({ properties, required, additionalProperties }, value, place) => {
  if (!isObject(value)) return [];
  const known = isObject(properties) ? properties : {};
  const more = additionalProperties ?? !isObject(properties);
  return [
    ...listOf(required).flatMap((key) =>
      value[String(key)] === undefined ? fault(under(place, String(key)), 'required', null) : [],
    ),
    ...Object.entries(value).flatMap(([key, item]) => {
      const schema = known[key];
      if (isObject(schema)) return checkSchema(schema, item, under(place, key));
      if (isObject(more)) return checkSchema(more, item, under(place, '*'));
      return more === true ? [] : fault(under(place, key), 'undeclared', item);
    }),
  ];
};

/** A constant tells kinds of things apart: a branch with another constant is further than any other fault. */
function distance(faults: readonly Fault[]): number {
  return faults.length + (faults.some(({ rule }) => rule === 'const') ? 1000 : 0);
}

/** The branch that fits, else the one that fits best. */
function checkBranches(branches: readonly unknown[], value: unknown, place: Place): readonly Fault[] {
  const outcomes = branches.filter(isObject).map((branch) => checkSchema(branch, value, place));
  const typed = outcomes.filter(
    (faults) => !faults.some(({ at, rule }) => at === place.at && rule === 'type'),
  );
  return (typed.length > 0 ? typed : outcomes).toSorted((a, b) => distance(a) - distance(b))[0] ?? [];
}

const checkSchema: Check = (schema, value, place) => {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return checkSchema(place.resolve($ref), value, { ...place, at: name });
  }
  if (Array.isArray(anyOf ?? oneOf)) return checkBranches(listOf(anyOf ?? oneOf), value, place);
  if (Array.isArray(allOf)) return allOf.filter(isObject).flatMap((part) => checkSchema(part, value, place));
  const wrongType = checkType(schema, value, place);
  if (wrongType.length > 0 || value === null) return wrongType;
  return [checkValue, checkText, checkNumber, checkArray, checkObject].flatMap((check) =>
    check(schema, value, place),
  );
};

/** Everything about the value that is not as the schema says; empty when it fits. */
export function findFaults(schema: Schema, value: unknown, { at, resolve }: Place): readonly Fault[] {
  return checkSchema(schema, value, { at, resolve });
}

/** Keywords of the schema and of all within it, not followed through `$ref`. */
export function keywordsOf(schema: Schema): ReadonlySet<string> {
  const { properties, items, additionalProperties } = schema;
  const within = [
    ...(isObject(properties) ? Object.values(properties) : []),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((key) => listOf(schema[key])),
    items,
    additionalProperties,
  ].filter(isObject);
  return new Set([...Object.keys(schema), ...within.flatMap((part) => [...keywordsOf(part)])]);
}
