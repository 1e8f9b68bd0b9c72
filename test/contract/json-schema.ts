import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** A schema as OpenAPI 3.1 writes it. */
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

interface Place {
  readonly at: string;
  readonly resolve: Resolve;
}

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

/** Say nothing about a value; `propertyNames` names sets that are open. */
const annotations = [
  'example',
  'discriminator',
  'x-fern-ignore',
  'x-junction-exhaustive',
  'x-fern-type-name',
];
const ignored = ['propertyNames', 'x-fern-enum'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Copies a schema inside another one, one step further on. */
type Within = (value: unknown, step?: string) => unknown;

function copyFields(fields: unknown, within: Within): unknown {
  if (!isObject(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, within(each, `/${name}`)]));
}

/** Named schemas compiled by ajv, stricter than they are written: an undeclared field is a fault too. */
class Checker {
  readonly #ajv = new Ajv2020({
    ...{ allErrors: true, verbose: true, inlineRefs: false, formats },
    ...{ strictTypes: false, strictTuples: false, strictRequired: false },
  });
  readonly #resolve: Resolve;
  readonly #named = new Set<string>();
  readonly #copies = new WeakMap<Schema, Schema>();
  /** The place of each copied schema: below a name, or below the schema that was asked for. */
  readonly #places = new WeakMap<object, { readonly name: string | null; readonly path: string }>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
    this.#ajv.addVocabulary(annotations);
  }

  find(schema: Schema, value: unknown, at: string): readonly Fault[] {
    const copy = this.#copies.get(schema) ?? this.#copy(schema, null, '');
    this.#copies.set(schema, copy);
    return this.#check(copy, value, at);
  }

  #check(copy: Schema, value: unknown, at: string): readonly Fault[] {
    const validate = this.#ajv.compile(copy);
    return validate(value) ? [] : this.#read(validate.errors ?? [], at);
  }

  #copy(schema: Schema, name: string | null, path: string): Schema {
    const within: Within = (value, step = '') =>
      isObject(value) ? this.#copy(value, name, `${path}${step}`) : value;
    const keywords = Object.entries(schema).flatMap(([key, value]) => this.#copyKeyword(key, value, within));
    const copy: Record<string, unknown> = Object.fromEntries(keywords);
    if (isObject(schema.properties)) copy.additionalProperties ??= false;
    if (schema.type === undefined) delete copy.nullable;
    if (schema.nullable === true && Array.isArray(schema.enum)) copy.enum = [...schema.enum, null];
    this.#places.set(copy, { name, path });
    return copy;
  }

  #copyKeyword(key: string, value: unknown, within: Within): readonly (readonly [string, unknown])[] {
    const listOf = (step?: string) => (Array.isArray(value) ? value.map((each) => within(each, step)) : []);
    switch (key) {
      case '$ref':
        return [[key, this.#name(String(value))]];
      case 'properties':
        return [[key, copyFields(value, within)]];
      case 'anyOf':
      case 'oneOf':
        return [['anyOf', listOf()]];
      case 'allOf':
        return [[key, listOf()]];
      case 'prefixItems':
        return [[key, listOf('/*')]];
      case 'items':
      case 'additionalProperties':
        return [[key, within(value, '/*')]];
      case 'format':
        return String(value) in formats ? [[key, value]] : [];
      default:
        return ignored.includes(key) ? [] : [[key, value]];
    }
  }

  /** Makes the named schema known to ajv, and everything that it leads to. */
  #name(reference: string): string {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    if (!this.#named.has(name)) {
      this.#named.add(name);
      this.#ajv.addSchema(this.#copy(this.#resolve(reference), name, ''), encodeURIComponent(name));
    }
    return encodeURIComponent(name);
  }

  /** From the last error on: that of a choice comes behind those of its branches, of which the best fit is reported. */
  #read(errors: readonly ErrorObject[], at: string): readonly Fault[] {
    const faults: Fault[] = [];
    const finished: string[] = [];
    const mistyped = new Set(
      errors.flatMap((error) => (error.keyword === 'type' ? [error.parentSchema] : [])),
    );
    for (const error of errors.toReversed()) {
      const { instancePath, keyword, parentSchema } = error;
      if (keyword !== 'type' && mistyped.has(parentSchema)) continue;
      if (finished.some((path) => instancePath === path || instancePath.startsWith(`${path}/`))) continue;
      const place = this.#placeOf(error, at);
      faults.unshift(...(keyword === 'anyOf' ? this.#readChoice(error, place) : [toFault(error, place)]));
      if (keyword === 'anyOf') finished.push(instancePath);
    }
    return faults;
  }

  #placeOf({ parentSchema }: ErrorObject, at: string): string {
    const { name, path } = (parentSchema && this.#places.get(parentSchema)) ?? { name: null, path: '' };
    return `${name ?? at}${path}`;
  }

  #readChoice({ schema, data }: ErrorObject, at: string): readonly Fault[] {
    const branches = Array.isArray(schema) ? schema.filter(isObject) : [];
    const outcomes = branches.map((branch) => this.#check(branch, data, at));
    const typed = outcomes.filter(
      (faults) => !faults.some((fault) => fault.at === at && fault.rule === 'type'),
    );
    return (typed.length > 0 ? typed : outcomes).toSorted((a, b) => distance(a) - distance(b))[0] ?? [];
  }
}

function toFault({ keyword, params, data }: ErrorObject, at: string): Fault {
  const found = (value: unknown) => String(JSON.stringify(value)).slice(0, 120);
  if (keyword === 'required') {
    return { at: `${at}/${params.missingProperty}`, rule: 'required', found: 'null' };
  }
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    return { at: `${at}/${name}`, rule: 'undeclared', found: found(isObject(data) ? data[name] : data) };
  }
  return { at, rule: keyword, found: found(data) };
}

/** A constant distinguishes the kinds: a branch with another constant is further than any other fault. */
function distance(faults: readonly Fault[]): number {
  return faults.length + (faults.some(({ rule }) => rule === 'const') ? 1000 : 0);
}

const checkers = new WeakMap<Resolve, Checker>();

/**
 * Everything about the value that is not as the schema says; empty when it fits.
 * @throws when the schema has a keyword that is not understood
 */
export function findFaults(schema: Schema, value: unknown, { at, resolve }: Place): readonly Fault[] {
  const checker = checkers.get(resolve) ?? new Checker(resolve);
  checkers.set(resolve, checker);
  return checker.find(schema, value, at);
}
