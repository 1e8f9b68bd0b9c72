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

/** Tracing by the SDK that is registered for the process. Imported only where tracing is on. */
export function createTracing(): Tracing {
  const tracer = trace.getTracer('labgraph');
  return {
    start: (name, { kind, attributes, parent, link }) => {
      const linked = readTraceparent(link);
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes, links: linked === null ? [] : [{ context: linked }] },
        parentOf(parent),
      );
      return new TracedSpan(span);
    },
  };
}

function parentOf(traceparent: SpanOptions['parent']): Context {
  const sent = readTraceparent(traceparent);
  if (sent !== null) return trace.setSpanContext(ROOT_CONTEXT, sent);
  const span = currentRequest()?.span;
  return span instanceof TracedSpan ? trace.setSpan(ROOT_CONTEXT, span.span) : ROOT_CONTEXT;
}

class TracedSpan implements Span {
  readonly span: OpenSpan;

  constructor(span: OpenSpan) {
    this.span = span;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  get isSampled(): boolean {
    return (this.span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
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
  const { traceId = '', spanId = '', flags = '' } = form.exec(text ?? '')?.groups ?? {};
  const context = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return isSpanContextValid(context) ? context : null;
}
