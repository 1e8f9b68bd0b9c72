/** The spans of OpenTelemetry as the gateway uses them. This file imports nothing, so it costs nothing where tracing is off. */
export interface Tracing {
  /** Starts a span as a child of the one that the current work runs under. What runs under one that is not recorded is not recorded either. */
  readonly start: (name: string, options: SpanOptions) => Span;
}

/** Names and values of OpenTelemetry's semantic conventions. They never have an id of a person, or a value of health data. */
export type Attributes = Readonly<Record<string, string | number | string[]>>;

export interface SpanOptions {
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  readonly attributes: Attributes;
  /** A `traceparent` that is the parent in place of the current span. */
  readonly parent?: string | undefined;
  /** A `traceparent` that the span has a link to. */
  readonly link?: string | null;
}

export interface Span {
  /** The `traceparent` of the span. */
  readonly traceparent: string;
  /** Whether it is recorded, so that a link to it leads somewhere. */
  readonly isRecorded: boolean;
  /** Runs work under the span. */
  readonly run: <Result>(work: () => Result) => Result;
  readonly set: (attributes: Attributes) => void;
  /** Marks it as failed, with the code of the error. */
  readonly fail: (code: string) => void;
  readonly end: () => void;
}

let tracing: Tracing | null = null;

/** Switches tracing on, or off with null, for gateways that are made from now on. */
export function useTracing(used: Tracing | null): void {
  tracing = used;
}

/** Null where tracing is off. */
export function currentTracing(): Tracing | null {
  return tracing;
}

/** Runs work under a span of its own; without tracing it only runs. The span ends with the work. */
export function runInSpan<Result>(
  span: Span | undefined,
  work: () => Promise<Result>,
  codeOf: (error: unknown) => string,
): Promise<Result> {
  return span === undefined ? work() : runAndEnd(span, work, codeOf);
}

async function runAndEnd<Result>(
  span: Span,
  work: () => Promise<Result>,
  codeOf: (error: unknown) => string,
): Promise<Result> {
  try {
    return await span.run(work);
  } catch (error) {
    span.fail(codeOf(error));
    throw error;
  } finally {
    span.end();
  }
}
