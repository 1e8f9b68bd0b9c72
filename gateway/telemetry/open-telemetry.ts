import { randomBytes } from 'node:crypto';
import {
  type Context,
  isSpanContextValid,
  type Span as OpenSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { currentRequest, runInScope } from './request.ts';
import type { Attributes, Span, SpanOptions, Tracing } from './tracing.ts';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/**
 * Tracing by the SDK that is registered for the process. Imported only where tracing is on.
 * @param share of new traces that are recorded. It is decided here, because the SDK would need 2 µs to leave one out.
 */
export function createTracing(share = 1): Tracing {
  const tracer = trace.getTracer('labgraph');
  return {
    start: (name, { kind, attributes, parent, link }) => {
      const around = parent === undefined ? currentRequest()?.span : undefined;
      if (around instanceof UnrecordedSpan) return around;
      const context = parentOf(parent);
      if (context === ROOT_CONTEXT && Math.random() >= share) return new UnrecordedSpan();
      const linked = readTraceparent(link);
      const links = linked === null ? [] : [{ context: linked }];
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes, links }, context);
      return span.isRecording() ? new RecordedSpan(span) : new UnrecordedSpan(span.spanContext());
    },
  };
}

function parentOf(traceparent: SpanOptions['parent']): Context {
  const sent = readTraceparent(traceparent);
  if (sent !== null) return trace.setSpanContext(ROOT_CONTEXT, sent);
  const span = currentRequest()?.span;
  return span instanceof RecordedSpan ? trace.setSpan(ROOT_CONTEXT, span.span) : ROOT_CONTEXT;
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Stands for every span of a trace that is not recorded, in this gateway. */
class UnrecordedSpan implements Span {
  readonly isRecorded = false;
  #context: SpanContext | null;

  constructor(context: SpanContext | null = null) {
    this.#context = context;
  }

  /** A new trace has ids once a call to the service needs them. */
  get traceparent(): string {
    this.#context ??= makeContext();
    return toTraceparent(this.#context);
  }

  run<Result>(work: () => Result): Result {
    return work();
  }

  set(): void {}

  fail(): void {}

  end(): void {}
}

function makeContext(): SpanContext {
  const ids = randomBytes(24).toString('hex');
  return { traceId: ids.slice(0, 32), spanId: ids.slice(32), traceFlags: TraceFlags.NONE };
}

class RecordedSpan implements Span {
  readonly isRecorded = true;
  readonly span: OpenSpan;

  constructor(span: OpenSpan) {
    this.span = span;
  }

  get traceparent(): string {
    return toTraceparent(this.span.spanContext());
  }

  run<Result>(work: () => Result): Result {
    const request = currentRequest();
    return request === undefined ? work() : runInScope({ ...request, span: this }, work);
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(attributes);
  }

  fail(code: string): void {
    this.span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.span.end();
  }
}

/** W3C Trace Context, version 00. */
const form = /^00-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})$/;

/** Null for a text that is none. `tracestate` is not read: its values may be anything. */
function readTraceparent(text: string | null | undefined): SpanContext | null {
  // Most requests have none.
  if (typeof text !== 'string') return null;
  const { traceId = '', spanId = '', flags = '' } = form.exec(text)?.groups ?? {};
  const context = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return isSpanContextValid(context) ? context : null;
}
