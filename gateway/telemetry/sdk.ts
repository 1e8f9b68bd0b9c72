import { setTimeout } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/** How long the last spans may take to be sent when the process ends. */
const lastMs = 1000;

/**
 * OpenTelemetry's SDK, as small as it can be: spans in batches to the OTLP/HTTP collector of
 * `OTEL_EXPORTER_OTLP_ENDPOINT`. An SDK that was registered before, by `--import`, stays.
 * @param onUnsent called when the collector has not accepted a batch
 */
export function startSdk(onUnsent: () => void) {
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    resource: resourceFromAttributes({ 'service.name': 'labgraph' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: createExporter(onUnsent), scheduledDelayMillis: 1000 }),
    ],
  });
  return {
    /** Whether another SDK was registered, which does its own sampling. */
    isOther: !trace.setGlobalTracerProvider(provider),
    /** Sends the spans that wait. */
    stop: async () => {
      await Promise.race([
        provider.shutdown().catch(() => undefined),
        setTimeout(lastMs, undefined, { ref: false }),
      ]);
    },
  };
}

function createExporter(onUnsent: () => void): SpanExporter {
  const exporter = new OTLPTraceExporter();
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // 0 is success.
        if (result.code !== 0) onUnsent();
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
