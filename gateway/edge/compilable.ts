import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  OperationTypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';

/**
 * Whether compiled code (graphql-jit 0.8.9) gives resolvers the same arguments as `execute` does. It does not
 * - where a variable stands inside an object or a list and is left out: it comes as null, and to the service that is the
 *   order to clear the field;
 * - where a required variable, or a required field of an input object that is a variable, has a default: what is left out
 *   is refused, with the caller's values in the error.
 * Mutations are left to `execute` altogether: they are never hot, and this list can only hold what was found.
 */
export function isCompilable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY) return false;
  return (operation.variableDefinitions ?? []).every(isTaken(schema)) && !hasInnerVariable(document);
}

function isTaken(schema: GraphQLSchema): (definition: VariableDefinitionNode) => boolean {
  return ({ type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type) || (isNonNullType(type) && defaultValue !== undefined)) return false;
    return !hasRequiredDefault(type, new Set());
  };
}

/** @param seen input types that were looked at: one may hold itself */
function hasRequiredDefault(type: GraphQLInputType, seen: Set<unknown>): boolean {
  const named = getNamedType(type);
  if (!isInputObjectType(named) || seen.has(named)) return false;
  seen.add(named);
  return Object.values(named.getFields()).some(
    (field) =>
      (isNonNullType(field.type) && !isRequiredInputField(field)) || hasRequiredDefault(field.type, seen),
  );
}

function hasInnerVariable(document: DocumentNode): boolean {
  let [depth, isFound] = [0, false];
  const around = {
    enter: () => {
      depth += 1;
    },
    leave: () => {
      depth -= 1;
    },
  };
  visit(document, {
    [Kind.OBJECT]: around,
    [Kind.LIST]: around,
    [Kind.VARIABLE]: () => {
      if (depth > 0) isFound = true;
    },
  });
  return isFound;
}
