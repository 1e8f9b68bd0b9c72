import { type ExecutionResult, getOperationAST } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import type { Caller } from '../caller/caller.ts';
import type { Basis } from '../upstream/basis.ts';
import type { RawHeaders } from './edge-headers.ts';
import type { GraphQLServer } from './graphql.ts';
import type { Mask } from './mask.ts';
import { type MediaType, type PlainParams, type PlainRequest, readParams } from './plain-request.ts';

/** An ordinary request of a caller who has been let in: all that its answer depends on, and its exact bytes. */
export interface PlainAsking {
  readonly head: PlainRequest;
  readonly caller: Caller;
  readonly body: Buffer;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  /** Notes what the answer rests on; left out where it is for this request alone. */
  readonly basis?: Basis | undefined;
}

/** A whole answer, but for the headers that every answer has (edge-headers.ts). */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Answers a query or mutation; null for what must be answered by Yoga's own handler: streams, and what is no such request. */
export type AnswerPlainly = (asking: PlainAsking) => Promise<PlainAnswer | null>;

export interface PlainAnswerOptions {
  readonly graphql: GraphQLServer;
  readonly mask: Mask;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
}

/** Runs what is asked through the same enveloped parse, validate, context and execute as Yoga's handler. */
export function createPlainAnswer(options: PlainAnswerOptions): AnswerPlainly {
  const { graphql, mask, beginOperation } = options;
  // Taken once: each time it is asked for, Yoga's proxy makes a function.
  const { getEnveloped } = graphql;
  const run = runWith(getEnveloped, mask);
  return async (asking) => {
    const params = readParams(asking.body);
    if (params === null) return null;
    const end = beginOperation();
    try {
      const result = await run(asking, params);
      if (result === null) return null;
      if (result.errors === undefined) asking.basis?.endWell();
      return await toAnswer(graphql, result, asking.head.mediaType);
    } finally {
      end();
    }
  };
}

type RunOperation = (asking: PlainAsking, params: PlainParams) => Promise<ExecutionResult | null>;

/** As Yoga's processRequest, and its handling of what is thrown. Null for streams, and where no one operation is meant. */
function runWith(getEnveloped: GraphQLServer['getEnveloped'], mask: Mask): RunOperation {
  return async ({ head, caller, left, basis }, { query, operationName, variables: variableValues }) => {
    const isTraced = head.trace === 'upstream';
    const enveloped = getEnveloped({ caller, origin: head.origin, left, over: left, isTraced, basis });
    const { schema } = enveloped;
    try {
      const document = enveloped.parse(query);
      const operation = getOperationAST(document, operationName);
      if (!operation || operation.operation === 'subscription') return null;
      const errors = enveloped.validate(schema, document);
      if (errors.length > 0) return { errors };
      if (operation.operation === 'query') basis?.beginQuery();
      const contextValue = await enveloped.contextFactory();
      return await enveloped.execute({ schema, document, contextValue, variableValues, operationName });
    } catch (error) {
      return { errors: [mask(error)] };
    }
  };
}

const noStore = ['cache-control', 'no-store'] as const;

async function toAnswer(
  { fetchAPI }: GraphQLServer,
  result: ExecutionResult,
  mediaType: MediaType,
): Promise<PlainAnswer> {
  // Which status errors have is Yoga's to say.
  if (result.errors !== undefined)
    return await readAnswer(processRegularResult(result, fetchAPI, mediaType), noStore);
  const headers = ['content-type', `${mediaType}; charset=utf-8`, ...noStore];
  return { status: 200, headers, body: Buffer.from(JSON.stringify(result)) };
}

/** A short answer that was made as a Response. */
export async function readAnswer(response: Response, more: RawHeaders = []): Promise<PlainAnswer> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  return { status, headers: [...[...headers].flat(), ...more], body };
}
