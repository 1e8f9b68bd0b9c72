import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** What one document may be, besides its tokens (parse.ts). Generous for people, out of reach for floods. */
const limits = {
  /** Fields at the root, aliases and fragments included. */
  rootFields: 20,
  /** Fields under other names, in the whole document. */
  aliases: 50,
  /** `@include` and its like, in the whole document. */
  directives: 50,
} as const;

/** An operation that is too wide, as the error that says so. */
export function findWidth(document: DocumentNode, operation: OperationDefinitionNode): GraphQLError | null {
  const { aliases, directives } = count(document);
  if (aliases > limits.aliases) return refuse(`more than ${limits.aliases} aliases`);
  if (directives > limits.directives) return refuse(`more than ${limits.directives} directives`);
  if (countRootFields(document, operation) > limits.rootFields)
    return refuse(`more than ${limits.rootFields} fields at its root`);
  return null;
}

/** The refusal of an operation that `has` too much of something. */
export function refuse(what: string): GraphQLError {
  return new GraphQLError(`The operation has ${what}.`, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}

/** `__typename` has no resolver of ours, so it costs no points (graph/work.ts), and its aliases could be a row's largest part. */
const weightOfTypename = 10;

interface Counts {
  readonly aliases: number;
  readonly directives: number;
}

/** Counted once per document: parsed documents are cached, so the counts are too. */
const kept = new WeakMap<DocumentNode, Counts>();

function count(document: DocumentNode): Counts {
  const known = kept.get(document);
  if (known !== undefined) return known;
  let [aliases, directives] = [0, 0];
  visit(document, {
    Field: ({ alias, name }) => {
      if (alias) aliases += name.value === '__typename' ? weightOfTypename : 1;
    },
    Directive: () => {
      directives += 1;
    },
  });
  const counts = { aliases, directives };
  kept.set(document, counts);
  return counts;
}

/** As the executor collects them: through all fragments, each named one once. */
function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, definition.selectionSet);
  }
  const countIn = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1;
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + countIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      return fragment === undefined ? sum : sum + countIn(fragment);
    }, 0);
  return countIn(operation.selectionSet);
}
