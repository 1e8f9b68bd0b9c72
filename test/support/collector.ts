import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector received it. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
  readonly isFailed: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAtMs: number;
  readonly durationMs: number;
}

/** An OTLP collector: JSON over HTTP. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that it received, as text. */
  readonly bodies: readonly string[];
  /** Resolves when one of the spans that have come, or will come, is such a span. */
  readonly until: (isWanted: (span: CollectedSpan) => boolean) => Promise<void>;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly links: readonly { readonly spanId: string }[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A busy machine may take this long. */
const timeoutMs = 150_000;

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const received = new EventEmitter();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    bodies.push(body);
    const { resourceSpans }: OtlpBody = JSON.parse(body);
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(readAttributes(resource.attributes)['service.name']);
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => toSpan(service, span)));
    }
    received.emit('spans');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    until: async (isWanted) => {
      const signal = AbortSignal.timeout(timeoutMs);
      while (!spans.some(isWanted)) await once(received, 'spans', { signal });
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toSpan(
  service: string,
  { attributes, links, status, parentSpanId = '', ...span }: OtlpSpan,
): CollectedSpan {
  return {
    ...{
      service,
      name: span.name,
      traceId: span.traceId,
      spanId: span.spanId,
      kind: span.kind,
      parentSpanId,
    },
    attributes: readAttributes(attributes),
    links: links.map(({ spanId }) => spanId),
    isFailed: status.code === 2,
    startedAtMs: Number(span.startTimeUnixNano) / 1e6,
    durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

function readAttributes(attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
