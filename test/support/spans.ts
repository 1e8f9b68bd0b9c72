import { trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { createTracing } from '../../gateway/telemetry/open-telemetry.ts';
import { useTracing } from '../../gateway/telemetry/tracing.ts';

/** Every span of the gateways in this process, in memory: none is lost, however many there are. */
export interface RecordedSpans extends Disposable {
  readonly spans: () => readonly ReadableSpan[];
  /** Everything that a collector would receive. */
  readonly text: () => string;
}

/** Switches tracing on for gateways that are made from now on, until it is disposed of. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  useTracing(createTracing());
  const spans = () => exporter.getFinishedSpans();
  return {
    spans,
    text: () =>
      spans()
        .map(({ name, attributes, events, links, status, resource }) =>
          JSON.stringify([name, attributes, events, links, status, resource.attributes]),
        )
        .join('\n'),
    [Symbol.dispose]: () => {
      useTracing(null);
      trace.disable();
    },
  };
}
