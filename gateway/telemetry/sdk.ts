import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/** How long the last spans may take to be sent when the process ends. */
const lastMs = 1000;

const ratio = Number(process.env.OTEL_TRACES_SAMPLER_ARG ?? 1);

/**
 * OpenTelemetry's SDK, as small as it can be: spans in batches to the OTLP/HTTP collector of
 * `OTEL_EXPORTER_OTLP_ENDPOINT`. An SDK that was registered before, by `--import`, stays.
 */
const provider = new TracerProvider({
  sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  resource: resourceFromAttributes({ 'service.name': 'labgraph' }).merge(
    detectResources({ detectors: [envDetector] }),
  ),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: 1000 })],
});

const isUsed = trace.setGlobalTracerProvider(provider);

/** The share of new traces that are recorded. Another SDK decides for itself. */
export const sampledShare = isUsed && !Number.isNaN(ratio) ? ratio : 1;

/** Sends the spans that wait. */
export async function stopSdk(): Promise<void> {
  await Promise.race([
    provider.shutdown().catch(() => undefined),
    setTimeout(lastMs, undefined, { ref: false }),
  ]);
}
