import {
  type ASTNode,
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isRequiredInputField,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  specifiedRules,
  typeFromAST,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  validate,
  validateInputLiteral,
  validateInputValue,
  visit,
} from 'graphql';
import { isObject } from '../../parse/json.ts';
import { createResponseError, locationsOf } from '../mask.ts';

const rules = specifiedRules.map(quietly);
const rulesWithoutIntrospection = [...rules, NoSchemaIntrospectionCustomRule];

/** Callers that may see the schema also get GraphQL's suggestions of its names. */
export interface ValidationOptions {
  readonly maySeeSchema: boolean;
}

/** The validation errors of a document, each message once. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { maySeeSchema }: ValidationOptions,
): readonly GraphQLError[] {
  const errors = validate(schema, document, maySeeSchema ? rules : rulesWithoutIntrospection, {
    hideSuggestions: !maySeeSchema,
  });
  const byMessage = Map.groupBy(errors, ({ message }) => message);
  return [...byMessage].map(([message, equal]) => mergeEqual(message, equal));
}

/**
 * The longest message. Longer ones repeat names that the client invented: 100 of them made 9 MB from a request of 90
 * kB.
 */
const maxMessage = 500;

/** Merges errors with the same message, with all their locations: an unknown directive used ten times is one error. */
function mergeEqual(message: string, equal: readonly GraphQLError[]): GraphQLError {
  const short = message.length <= maxMessage ? message : `${message.slice(0, maxMessage)}…`;
  const locations = equal.flatMap((error) => locationsOf(error) ?? []);
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400, spec: true } };
  return createResponseError({ message: short, locations, extensions });
}

/**
 * Errors for values that do not fit their types, without the values. GraphQL finds the errors, but its messages quote
 * the values, which may be people's names, addresses and results. Names of the schema may be quoted.
 */

type Path = readonly (string | number)[];

/** The values of an operation's variables, checked before anything uses them: one error per place, 10 at most. */
export function findVariableFaults(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: { readonly [name: string]: unknown },
): readonly GraphQLError[] {
  const faults = variableDefinitions.flatMap((definition) => {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!isInputType(type) || (value === undefined && definition.defaultValue !== undefined)) return [];
    const places = collectPlaces((note) =>
      validateInputValue(value, type, (_error, path) => note(path), true),
    );
    return places.map((path) => {
      const where = ['$', [name, ...path].join('.')].join('');
      const fault = describeFault(type, path, namesIn(valueAt(value, path)));
      return new GraphQLError(`The variable "${where}" does not fit: ${fault}`, {
        nodes: definition,
        extensions: { code: 'BAD_USER_INPUT' },
      });
    });
  });
  return faults.slice(0, maxFaults);
}

const maxFaults = 10;

/** GraphQL's rule for literals, with messages that do not quote them. */
function quietly(rule: ValidationRule): ValidationRule {
  return rule === ValuesOfCorrectTypeRule ? quietValuesRule : rule;
}

function quietValuesRule(context: ValidationContext): ASTVisitor {
  const check = (node: ValueNode, type: GraphQLInputType | null | undefined) => {
    if (type) reportLiteral(context, node, type);
    // The contents of this value have been checked with it.
    return false;
  };
  const checkHere = (node: ValueNode) => check(node, context.getInputType());
  return {
    NullValue: checkHere,
    ListValue: (node) => check(node, context.getParentInputType()),
    ObjectValue: checkHere,
    EnumValue: checkHere,
    IntValue: checkHere,
    FloatValue: checkHere,
    StringValue: checkHere,
    BooleanValue: checkHere,
  };
}

function reportLiteral(context: ValidationContext, node: ValueNode, type: GraphQLInputType): void {
  for (const path of collectPlaces((note) => validateInputLiteral(node, type, (_error, at) => note(at)))) {
    const at = literalAt(node, path);
    const names = at?.kind === Kind.OBJECT ? at.fields.map(({ name }) => name.value) : null;
    const message = `A value does not fit: ${describeFault(type, path, names)}`;
    context.reportError(new GraphQLError(message, { nodes: at ?? node }));
  }
}

/**
 * Thrown to end a walk. It is made once, because making an error captures a stack: that took a twentieth of the time of
 * reading one order.
 */
const enough = new Error('Enough faults.');

/**
 * Each place once, up to the number of faults that are reported. GraphQL writes a message about each fault, with the
 * whole value in it: 8,000 unknown keys in one record took 39 s.
 */
function collectPlaces(validate: (note: (path: Path) => void) => void): readonly Path[] {
  const places = new Map<string, Path>();
  let found = 0;
  const note = (path: Path) => {
    places.set(JSON.stringify(path), path);
    found += 1;
    if (found >= maxFaults) throw enough;
  };
  try {
    validate(note);
  } catch (error) {
    if (error !== enough) throw error;
  }
  return [...places.values()];
}

/** @param names the given fields, if the value is a record */
function describeFault(root: GraphQLInputType, path: Path, names: readonly string[] | null): string {
  const declared = typeAt(root, path);
  const type = getNullableType(declared);
  if (names === null || !isInputObjectType(type)) return `"${declared}" is expected.`;
  const fields = type.getFields();
  const missing = Object.values(fields)
    .filter((field) => isRequiredInputField(field) && !names.includes(field.name))
    .map(({ name }) => `the field "${name}" is missing`);
  const unknown = names.filter((name) => !Object.hasOwn(fields, name)).map(describeUnknown);
  const all = [...missing, ...unknown].slice(0, maxFaults);
  if (all.length === 0) return `"${declared}" is expected, with exactly one of its fields.`;
  return `"${declared}" is expected, yet ${all.join(', ')}.`;
}

/** A key that cannot be a field's name may be somebody's text, so it is not in the message. */
function describeUnknown(name: string): string {
  return /^[_A-Za-z]\w{0,49}$/.test(name) ? `it has no field "${name}"` : 'a key is no name of a field';
}

/** GraphQL accepts a single value in place of a list, so a path may lack the index of a list. */
function typeAt(root: GraphQLInputType, path: Path): GraphQLInputType {
  return path.reduce<GraphQLInputType>((outer, step) => {
    let type: GraphQLInputType = getNullableType(outer);
    if (typeof step === 'number') return isListType(type) ? type.ofType : type;
    while (isListType(type)) type = getNullableType(type.ofType);
    return isInputObjectType(type) ? (type.getFields()[step]?.type ?? type) : type;
  }, root);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (outer, step) => (isObject(outer) && Object.hasOwn(outer, step) ? outer[step] : undefined),
    value,
  );
}

function literalAt(node: ValueNode, path: Path): ValueNode | undefined {
  return path.reduce<ValueNode | undefined>((outer, step) => {
    if (outer?.kind === Kind.LIST && typeof step === 'number') return outer.values[step];
    if (outer?.kind !== Kind.OBJECT) return undefined;
    return outer.fields.find(({ name }) => name.value === step)?.value;
  }, node);
}

function namesIn(value: unknown): readonly string[] | null {
  if (!isObject(value) || Array.isArray(value)) return null;
  return Object.keys(value).filter((name) => value[name] !== undefined);
}

/**
 * Limits for every value of an operation, checked before any rule or scalar reads it. Rules of single fields are stricter:
 * the longest text that the service accepts has 1,000 characters.
 */
const limits = {
  /** Enough for a stream's cursor, which may be as long as the headers of a request. */
  characters: 16_000,
  /** Of a list or a record. */
  entries: 1000,
  /** Lists and records inside each other. */
  depth: 50,
} as const;

interface Excess {
  readonly path: Path;
  readonly what: string;
}

/** The error for the first variable that is too large; null if there is none. */
export function findOversizedVariable(
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: { readonly [name: string]: unknown },
): GraphQLError | null {
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const excess = Object.hasOwn(values, name) ? findExcess(values[name], [`$${name}`]) : null;
    if (excess !== null)
      return refuse(`The variable "${describePath(excess.path)}"`, excess.what, definition);
  }
  return null;
}

function findExcess(value: unknown, path: Path): Excess | null {
  if (typeof value === 'string') return isTooLong(value) ? { path, what: tooLong } : null;
  if (typeof value !== 'object' || value === null) return null;
  if (path.length > limits.depth) return { path, what: `is nested deeper than ${limits.depth} levels` };
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  if (entries.length > limits.entries) return { path, what: `has more than ${limits.entries} entries` };
  for (const [key, inner] of entries) {
    const excess = findExcess(inner, [...path, key]);
    if (excess !== null) return excess;
  }
  return null;
}

/** The error for the first literal of a document that is too long. Lists in a document are limited by its tokens. */
export function findOversizedLiteral(document: DocumentNode, text: string): GraphQLError | null {
  if (!isTooLong(text)) return null;
  let found: GraphQLError | null = null;
  visit(document, {
    enter: (node, _key, _parent, _path, ancestors) => {
      if (!isText(node) || !isTooLong(node.value)) return undefined;
      const place = describePath(namesOf(ancestors.flat()));
      found = refuse(`The value of "${place}"`, tooLong, node);
      return BREAK;
    },
  });
  return found;
}

const tooLong = `is longer than ${limits.characters} characters`;

function isTooLong(text: string): boolean {
  return text.length > limits.characters;
}

/** Numbers count as text, because an ID may be written as a long number. */
function isText(node: ASTNode): node is ASTNode & { readonly value: string } {
  return node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT;
}

/** The names from the innermost field to the value: `createUser.input.clientUserId`. */
function namesOf(ancestors: readonly ASTNode[]): readonly string[] {
  const last = ancestors.findLastIndex(
    ({ kind }) => kind === Kind.FIELD || kind === Kind.VARIABLE_DEFINITION,
  );
  return ancestors.slice(Math.max(0, last)).flatMap((node) => {
    if (node.kind === Kind.VARIABLE_DEFINITION) return [`$${node.variable.name.value}`];
    const isNamed =
      node.kind === Kind.FIELD || node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD;
    return isNamed ? [node.name.value] : [];
  });
}

/** Keys that cannot be names of the schema may hold personal data, so they are not quoted. */
function describePath(path: Path): string {
  return path.map((key) => (/^\$?\w{1,50}$/.test(String(key)) ? key : '?')).join('.');
}

function refuse(where: string, what: string, nodes: ASTNode): GraphQLError {
  return new GraphQLError(`${where} ${what}.`, { nodes, extensions: { code: 'BAD_USER_INPUT' } });
}
