import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isInputType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  OperationTypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';

/**
 * What a document may be made of to be compiled. Everything else is left to `execute`: graphql-jit 0.8.9 makes code of it
 * that differs, or worse (decision 0070).
 * - A text in an argument is written into code, and one that it mistakes for a mark of its own is run.
 * - With `@skip` and `@include`, what one selection leaves out it may leave out of others.
 */
const compiledKinds: ReadonlySet<string> = new Set([
  Kind.DOCUMENT,
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.FRAGMENT_DEFINITION,
  Kind.SELECTION_SET,
  Kind.FIELD,
  Kind.FRAGMENT_SPREAD,
  Kind.INLINE_FRAGMENT,
  Kind.ARGUMENT,
  Kind.NAME,
  Kind.VARIABLE,
  Kind.NAMED_TYPE,
  Kind.LIST_TYPE,
  Kind.NON_NULL_TYPE,
  Kind.INT,
  Kind.FLOAT,
  Kind.BOOLEAN,
  Kind.ENUM,
  Kind.NULL,
  Kind.LIST,
  Kind.OBJECT,
  Kind.OBJECT_FIELD,
]);

/**
 * Whether compiled code gives the same answer as `execute`, as far as anybody knows; what is not known to is not compiled.
 * Mutations never are: none is hot, and a difference there would be a wrong write.
 */
export function isCompilable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY) return false;
  return isMadeOfCompiled(document) && (operation.variableDefinitions ?? []).every(isTaken(schema));
}

/** A variable that is left out inside an object or a list would come as null, which the service takes for an order to clear. */
function isMadeOfCompiled(document: DocumentNode): boolean {
  let [inside, isCompiled] = [0, true];
  const isAround = ({ kind }: ASTNode) => kind === Kind.LIST || kind === Kind.OBJECT;
  visit(document, {
    enter: (node) => {
      if (isAround(node)) inside += 1;
      if (compiledKinds.has(node.kind) && !(node.kind === Kind.VARIABLE && inside > 0)) return undefined;
      isCompiled = false;
      return BREAK;
    },
    leave: (node) => {
      if (isAround(node)) inside -= 1;
    },
  });
  return isCompiled;
}

/**
 * Defaults are taken as they are written, so only those that need no reading will do; required variables with one are
 * refused where it should be taken.
 */
function isTaken(schema: GraphQLSchema): (definition: VariableDefinitionNode) => boolean {
  return ({ type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) return false;
    if (defaultValue === undefined) return !hasDefaults(type, []);
    return !isNonNullType(type) && isPlain(getNamedType(type));
  };
}

function isPlain(type: GraphQLNamedType): boolean {
  return isEnumType(type) || (isScalarType(type) && isSpecifiedScalarType(type));
}

/** @param around the types that this one stands in: one that holds itself would be compiled without end */
function hasDefaults(type: GraphQLInputType, around: readonly unknown[]): boolean {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return false;
  if (around.includes(named)) return true;
  return Object.values(named.getFields()).some(
    (field) =>
      field.default !== undefined ||
      field.defaultValue !== undefined ||
      hasDefaults(field.type, [...around, named]),
  );
}
