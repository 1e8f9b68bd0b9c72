import { type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql';
import type { Span, Tracing } from '../telemetry/tracing.ts';
import type { PreparedDocument } from './document/prepared-document.ts';

/** An operation of a document. */
interface Chosen {
  readonly document: PreparedDocument;
  readonly operationName?: string | null | undefined;
}

/** The type of an operation, and its name where the team has written it: clients choose the names of other documents. */
export function describeOperation({ document, operationName }: Chosen) {
  const operation = getOperationAST(document, operationName);
  const name = document.trust.isListed ? (operation?.name?.value ?? null) : null;
  return { type: operation?.operation ?? OperationTypeNode.QUERY, name };
}

/** Starts the span of an operation. */
export function startOperation(tracing: Tracing, args: Chosen): Span {
  const { type, name } = describeOperation(args);
  return tracing.start(name === null ? type : `${type} ${name}`, {
    kind: 'internal',
    attributes: {
      'graphql.operation.type': type,
      ...(name === null ? {} : { 'graphql.operation.name': name }),
    },
  });
}

/** Notes the codes of the errors of an answer, each once. */
export function noteErrors(span: Span, { errors }: ExecutionResult): void {
  if (errors === undefined) return;
  const codes = [...new Set(errors.map(({ extensions }) => String(extensions.code ?? 'INTERNAL')))];
  span.set({ 'labgraph.error.codes': codes });
  span.fail(codes[0] ?? 'INTERNAL');
}
